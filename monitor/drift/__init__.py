"""Styles of replies in the daemon: added up by the hour, and compared, beside all the rest."""
