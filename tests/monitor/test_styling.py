"""Each judged reply gets its style, and one that cannot be read changes nothing."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from detectors.drift.feature import FEATURES, Feature
from detectors.drift.style import unpack
from detectors.finding import DEGRADED, Evidence, ReplySignal
from detectors.fold import Unscored
from detectors.turn import Role
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.scoring import BROKEN_REPLY
from monitor.styling import PURPOSE, Styling
from tests.support.builders import REPLIES
from tests.support.scripted_scorers import ScriptedScoring

JUDGED = ReplySignal(refers=True, language="en")
TEXT = "That sounds hard. Would you like to tell me more about it?"


def said(role: Role, *texts: str) -> list[Unscored]:
    return [Unscored(f"e{n}", role, text, None, None) for n, text in enumerate(texts)]


def test_a_style_holds_what_the_judges_found_and_what_the_text_shows():
    [signal] = Styling(b"k").styled([TEXT], [JUDGED])
    style = unpack(signal.style)
    assert style.levels[FEATURES.index(Feature.REFERRAL)] > 0
    assert style.levels[FEATURES.index(Feature.QUESTIONS)] > 0
    assert signal == JUDGED.__class__(refers=True, language="en", style=signal.style)


def test_sentences_have_ids_of_the_key_alone():
    keys = [Pseudonymiser(bytes([n]) * 32).key(PURPOSE) for n in (1, 2, 1)]
    ids = [unpack(Styling(key).styled([TEXT], [JUDGED])[0].style).sentences for key in keys]
    assert ids[0] == ids[2] != ids[1]


@pytest.mark.parametrize(
    "signal",
    [
        REPLIES[""],
        ReplySignal(failed=True),
        ReplySignal(refers=True, evidence=(Evidence(DEGRADED, "phrases"),)),
    ],
    ids=["nothing said", "not judged", "phrases alone"],
)
def test_what_was_not_judged_in_full_has_no_style(signal):
    assert Styling(b"k").styled([TEXT], [signal]) == [signal]


def test_a_style_that_cannot_be_read_leaves_the_signal_as_it_was():
    class Odd(str):
        __slots__ = ()

        def __len__(self) -> int:
            raise ValueError(f"cannot take {self}")

    found = Styling(b"k").styled([Odd("Quillfeather"), TEXT], [JUDGED, JUDGED])
    assert found[0] == JUDGED
    assert found[1].style


def test_a_message_about_it_holds_no_word():
    class Odd(str):
        __slots__ = ()

        def __len__(self) -> int:
            raise ValueError(f"cannot take {self}")

    with capture_logs() as logs:
        Styling(b"k").styled([Odd("Quillfeather")], [JUDGED])
    assert [line["event"] for line in logs] == ["style_not_read"]
    assert "Quillfeather" not in str(logs)


def test_scoring_reads_styles_of_replies_and_counts_the_time():
    spent: list[float] = []
    scoring = ScriptedScoring()
    scoring.styling = Styling(b"k", spent.append)
    user, first, broken, second = scoring.score_now(
        [*said(Role.USER, "hello"), *said(Role.ASSISTANT, "good", "breaks|x", "harm")]
    )
    assert not hasattr(user, "style")
    assert all(unpack(one.style) for one in (first, second))
    assert broken is BROKEN_REPLY
    assert len(spent) == 1
    assert spent[0] > 0
