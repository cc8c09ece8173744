"""What to do about it: outcome → incident → deadlines, escalation, outbox, pagers.

Decisions are pure and name their reason; sending is at the edge behind ports.
"""
