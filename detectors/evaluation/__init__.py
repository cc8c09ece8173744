"""How well the detectors do on labelled conversations: ``jiezhu evaluate``."""
