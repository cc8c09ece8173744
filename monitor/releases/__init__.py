"""Releases side by side: what two of them came to, the differences with their intervals, and what may be said of them."""
