"""How good a conversation was: two scales with anchors as data, and the path a good conversation takes."""
