"""Keys: sealing the words an incident needs, and naming people without knowing them (M7)."""
