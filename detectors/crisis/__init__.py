"""Judging user turns by themselves: a score, a level, and why (D1, D2)."""

from detectors.crisis.scorer import ExemplarScorer, load_scorer

__all__ = ["ExemplarScorer", "load_scorer"]
