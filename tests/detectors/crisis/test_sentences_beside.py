"""What is said beside a wish to die, in the same short turn, does not hide it; and makes nobody's small talk a crisis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from detectors.crisis import TrainedScorer
from detectors.crisis.calibration import strength
from detectors.crisis.model import LEVELS, Floats, Linear, Model
from detectors.finding import Level
from tests.support.made_up_model import CALIBRATION, DIMENSION, MODEL, HashedTexts

BESIDE_ZH = ("我叫鹭庭璎珞。", "我是住在霁川渡口的阮棠梨。", "我家猫叫年糕。", "楼下是14路车站。")
BESIDE_EN = (
    "I am Zephyrine Quillfeather of the heronweir.",
    "My name is Ottoline Marchbanks.",
    "My cat is called Biscuit.",
    "The number 14 bus stops outside.",
)
PLAIN = [
    ("我不想活了，想了很久。", BESIDE_ZH),
    ("我真的想死。", BESIDE_ZH),
    ("I want to kill myself and nobody knows.", BESIDE_EN),
    ("I don't want to be alive any more.", BESIDE_EN),
]
QUIET = [
    ("今天上班好累，只想睡觉。", BESIDE_ZH),
    ("这个游戏难死我了哈哈。", BESIDE_ZH),
    ("Work was long today and I am tired.", BESIDE_EN),
    ("That level nearly killed me, so funny.", BESIDE_EN),
]


def _beside(said: str, others: tuple[str, ...]) -> list[str]:
    space = " " if said.isascii() else ""
    return [text for other in others for text in (f"{said}{space}{other}", f"{other}{space}{said}")]


@pytest.mark.model
@pytest.mark.xdist_group("encoder")
@pytest.mark.parametrize(("said", "others"), PLAIN)
def test_a_plain_wish_is_heard_beside_anything(
    scorer: TrainedScorer, said: str, others: tuple[str, ...]
) -> None:
    texts = _beside(said, others)
    assert [
        text
        for text, found in zip(texts, scorer.score(texts, [None] * len(texts)), strict=True)
        if not found.level.crisis
    ] == []


@pytest.mark.model
@pytest.mark.xdist_group("encoder")
@pytest.mark.parametrize(("said", "others"), QUIET)
def test_small_talk_stays_small_talk(scorer: TrainedScorer, said: str, others: tuple[str, ...]) -> None:
    texts = _beside(said, others)
    assert {found.level for found in scorer.score(texts, [None] * len(texts))} == {Level.NONE}


class _Listening(HashedTexts):
    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def encode(self, texts):
        self.calls.append(list(texts))
        return super().encode(texts)


# strengths from nearly none to nearly sure
SPREAD = replace(
    MODEL,
    heads=MODEL.heads | {"crisis": Linear(20 * MODEL.heads["crisis"].weight, MODEL.heads["crisis"].bias)},
)
TURNS = [f"第{n}天我出门逛到很晚。今天做了{n}件事还是老样子。" for n in range(200)]
TELLING = [f"第{n}天我收到了一封遗嘱。今天做了{n}件事还是老样子。" for n in range(400)]


def _as_a_whole(turn: str) -> float:
    vector = HashedTexts().encode([turn.rstrip("。")]) * SPREAD.scale
    crisis, levels = SPREAD.heads["crisis"](vector), SPREAD.heads["level"](vector)
    return strength(float(crisis[0, 0]), levels[0])


def _read_closer(turns: list[str]) -> list[str]:
    encoder = _Listening()
    TrainedScorer(encoder, SPREAD, CALIBRATION).score(turns, ["zh"] * len(turns))
    assert encoder.calls[0] == [turn.rstrip("。") for turn in turns]
    return [sentence for call in encoder.calls[1:] for sentence in call]


def test_only_what_leaves_a_doubt_is_read_by_its_sentences() -> None:
    doubted = [turn for turn in TURNS if -2.5 <= _as_a_whole(turn) < 3.3]
    assert 0 < len(doubted) < len(TURNS)
    assert _read_closer(TURNS) == [one for turn in doubted for one in turn.split("。") if one]


def test_what_tells_something_is_read_by_itself_at_a_fainter_doubt() -> None:
    faint = [turn for turn in TELLING if -6 <= _as_a_whole(turn) < -2.5]
    assert faint
    assert _read_closer(faint) == [turn.partition("。")[0] for turn in faint]
    assert _read_closer([turn for turn in TELLING if _as_a_whole(turn) < -6]) == []


def test_the_stronger_sentence_is_the_evidence() -> None:
    scorer = TrainedScorer(HashedTexts(), SPREAD, CALIBRATION)
    found = scorer.score(TURNS, ["zh"] * len(TURNS))
    risen = [signal for signal in found if signal.level.crisis and signal.evidence[0].window > 0]
    assert risen
    assert all(signal.evidence[0].window in (1, 2) for signal in risen)


def test_one_sentence_is_read_once() -> None:
    encoder = _Listening()
    TrainedScorer(encoder, SPREAD, CALIBRATION).score(
        [turn.partition("。")[0] for turn in TURNS], ["zh"] * len(TURNS)
    )
    assert len(encoder.calls) == 1


LOW = -9.0
HEARD = (Level.PASSIVE_IDEATION, Level.ACTIVE_IDEATION, Level.PLAN_INTENT, Level.IN_PROGRESS)
TURN, TELLS = "今天出门逛到很晚。回来写了一封遗嘱", "回来写了一封遗嘱"


def _row(**strengths: float) -> Floats:
    """A vector that says so of crisis and of each of these levels, to both heads."""
    row = np.full(DIMENSION, LOW, dtype=np.float32)
    row[0] = max(strengths.values())
    for level, said in strengths.items():
        row[1 + HEARD.index(Level(level))] = said
    return row


def _plain_heads() -> Model:
    """The first number of a vector is the crisis head's, the next are those of ``HEARD``."""
    ones = np.eye(DIMENSION, dtype=np.float32)
    rows = [ones[1 + HEARD.index(level)] if level in HEARD else 0 * ones[0] for level in LEVELS]
    bias = np.array([0.0 if level in (Level.NONE, *HEARD) else LOW for level in LEVELS], dtype=np.float32)
    heads = {"crisis": Linear(ones[:1], np.zeros(1, dtype=np.float32)), "level": Linear(np.array(rows), bias)}
    return replace(MODEL, heads=MODEL.heads | heads)


def _level(whole: Floats, closer: Floats, **thresholds: float) -> Level:
    """Of a turn that says ``whole``, and of which one sentence, drawn towards the turn, says ``closer``."""
    model = _plain_heads()

    class Encoder:
        dimension = DIMENSION

        def encode(self, texts):
            rows = {TURN: whole, TELLS: whole + (closer - whole) / 0.7}
            return np.array([rows.get(text, whole) / model.scale for text in texts], dtype=np.float32)

    ours = CALIBRATION.thresholds | {Level(level): value for level, value in thresholds.items()}
    scorer = TrainedScorer(Encoder(), model, replace(CALIBRATION, thresholds=ours))
    return scorer.score([TURN], ["zh"])[0].level


def test_what_is_found_in_the_whole_is_not_lost_to_a_stronger_sentence_below_its_own_threshold() -> None:
    thresholds = {"plan_intent": 0.3, "active_ideation": 0.7}
    assert _level(_row(plan_intent=0.0), _row(plan_intent=0.0), **thresholds) is Level.PLAN_INTENT
    assert _level(_row(plan_intent=0.0), _row(active_ideation=0.4), **thresholds) is Level.PLAN_INTENT


def test_who_may_act_at_any_moment_is_not_taken_for_calmer() -> None:
    assert _level(_row(active_ideation=0.5), _row(passive_ideation=2.0)) is Level.PASSIVE_IDEATION
    assert _level(_row(in_progress=0.5), _row(passive_ideation=2.0)) is Level.IN_PROGRESS
    assert _level(_row(passive_ideation=0.5), _row(in_progress=2.0)) is Level.IN_PROGRESS
