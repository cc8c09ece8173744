"""What an encoder of our own is trained on: the words of the corpora's labels."""
