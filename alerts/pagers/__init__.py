"""The channels to people, one file a service: its settings and its pager."""
