"""What is in a conversation: turns, levels of risk, distress, and how a reply dealt with them.

Runs in a notebook without Kafka or a database; imports neither ``alerts`` nor ``monitor``.
"""
