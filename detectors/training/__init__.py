"""Fits the encoder's upper layers and its heads to our corpora: ``jiezhu train``. Needs torch."""
