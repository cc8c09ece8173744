"""What batches add to the figures, how that is added up by the hour, and the rates that come of it."""
