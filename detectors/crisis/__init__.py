"""Is this turn a crisis, and of what level? The trained model's heads, explicit signals for evidence, one policy."""

from detectors.crisis.scorer import TrainedScorer

__all__ = ["TrainedScorer"]
