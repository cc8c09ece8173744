"""A language model's view of replies, asked for beside our own judge: off unless an endpoint is set."""
