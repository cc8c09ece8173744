"""Which level a crisis window is of: several voices, one sum."""

from __future__ import annotations

import numpy as np

from detectors.crisis.bank import Bank
from detectors.crisis.features import Reading
from detectors.crisis.fusion import Floats
from detectors.crisis.policy import Policy
from detectors.crisis.signal import Said
from detectors.finding import CRISIS_LEVELS, Level

_NEAREST = 8


def choose_level(head: Floats, cosines: Floats, reading: Reading, bank: Bank, policy: Policy) -> Level:
    """``head``: log probabilities over CRISIS_LEVELS; ``cosines``: to every exemplar of the bank."""
    weigh = policy.level_votes
    votes = {level: weigh["head"] * float(head[i]) for i, level in enumerate(CRISIS_LEVELS)}
    risky = np.flatnonzero(bank.risky)
    nearest = risky[np.argsort(-cosines[risky], kind="stable")[:_NEAREST]]
    closeness = np.exp(20.0 * (cosines[nearest] - cosines[nearest].max()))
    for index, share in zip(nearest, closeness / closeness.sum(), strict=True):
        votes[bank.exemplars[int(index)].level] += weigh["nearness"] * float(share)
    for heard in reading.heard:
        if heard.said is Said.OWN:
            votes[heard.signal.level] += weigh["strong"] if heard.signal.strength == 2 else weigh["soft"]
        elif heard.said is Said.OTHER and reading.urgent:
            votes[Level.OTHER_AT_RISK] += weigh["urgent_other"]
    return max(votes, key=lambda level: (votes[level], level.severity))
