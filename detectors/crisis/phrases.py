"""What explicit words alone say of a user turn: for the time in which the encoder cannot be asked."""

from __future__ import annotations

from collections.abc import Sequence

from detectors.crisis.explicit import heard_in
from detectors.crisis.signal import Said
from detectors.distress.marks import marks_in
from detectors.finding import DEGRADED, Evidence, Level, UserSignal
from detectors.text import UNDETERMINED, detect_language, normalise, primary
from detectors.text.gist import gist

ALONE = "phrases_alone"
_PLAIN = 2  # strength of a signal whose words alone nearly say it
# Seven in ten of the rows in which such a signal is said of oneself are crisis turns, on corpora written to mislead.
_SCORE = 0.7
_DISTRESS = 0.6
_EVIDENCE = 3


class PhraseScorer:
    """A ``UserScorer`` that needs no model. It finds three crisis turns in ten of our corpora, the plainest.

    Where it finds nothing the turn is ``UNSCORED`` and not safe: that no phrase was heard says nothing. Every signal
    carries evidence of kind ``degraded``.
    """

    def __init__(self, sketch_key: bytes = b"") -> None:
        self._sketch_key = sketch_key

    def score(self, texts: Sequence[str], langs: Sequence[str | None]) -> list[UserSignal]:
        return [_score(text, lang, self._sketch_key) for text, lang in zip(texts, langs, strict=True)]


def _score(text: str, hint: str | None, sketch_key: bytes) -> UserSignal:
    normal = normalise(text).text
    found = detect_language(normal)
    plain = [
        heard.signal
        for heard in heard_in(normal)
        if heard.said is Said.OWN and heard.signal.strength >= _PLAIN
    ]
    worst = max((one.level for one in plain), key=lambda level: level.severity, default=Level.UNSCORED)
    return UserSignal(
        level=worst,
        score=_SCORE if plain else 0.0,
        distress=_DISTRESS if plain else 0.0,
        evidence=(
            *(Evidence("plain", one.name) for one in plain[:_EVIDENCE]),
            Evidence(DEGRADED, ALONE),
            *marks_in(normal),  # a turn without a memory is judged in its conversation by these
        ),
        language=found if found != UNDETERMINED else primary(hint),
        gist=gist(text, sketch_key),
    )
