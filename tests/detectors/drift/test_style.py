from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detectors.drift.address import formality
from detectors.drift.feature import FEATURES, LEVELS, Feature, level
from detectors.drift.sentences import MOST, sentence_ids
from detectors.drift.style import Style, phrases_of, read_style, unpack
from detectors.drift.surface import layout, length, other_script
from detectors.finding import EmotionNamed, Evidence, Flag, ReplySignal
from detectors.reply.scorer import PatternReplyScorer
from detectors.text.gist import gist

SCORER = PatternReplyScorer()
STYLES = st.builds(
    Style,
    st.tuples(*[st.integers(0, LEVELS - 1)] * len(FEATURES)),
    st.lists(st.integers(0, 2**40 - 1), max_size=MOST, unique=True).map(lambda ids: tuple(sorted(ids))),
)


def read(text, **how):
    (signal,) = SCORER.score([text], [None], [None])
    style = read_style(text, signal, **how)
    return dict(zip(FEATURES, style.levels, strict=True))


@pytest.mark.parametrize(
    ("feature", "less", "more"),
    [
        (Feature.LENGTH, "我听着。", "我听着。你慢慢说，不用急着把一切讲清楚，今晚还长。"),
        (Feature.QUESTIONS, "今天过得不容易。我在听。", "今天过得不容易吗？是什么让你停下来的？"),
        (
            Feature.ADVICE,
            "That was a long week.",
            "Try a walk tonight. You could also try a warm bath first.",
        ),
        (Feature.WARMTH, "好的，知道了。", "我就在这，慢慢说。"),
        (Feature.VALIDATION, "好的，知道了。", "一个人撑了这么久，你真的太累了，换谁都会受不住。"),
        (Feature.EMOTION_NAMED, "好的，知道了。", "一个人撑了这么久，你真的太累了。"),
        (Feature.FORMALITY, "你今天怎么样", "您今天怎么样"),
        (Feature.EMOJI, "慢慢来", "慢慢来😊🌷"),
        (Feature.LAYOUT, "one\ntwo", "- one\n- **two**"),
        (Feature.EXCLAMATION, "Good. You did it.", "Good! You did it!"),
        (Feature.OTHER_SCRIPT, "今天过得怎么样呢朋友", "今天 today 过得 really 怎么样呢"),
        (Feature.TEMPLATE, "The bus was late again.", "Your feelings are valid. Thank you for sharing."),
        (Feature.REFERRAL, "我在听你说。", "你可以给你的好朋友打个电话，让他过来陪你。"),
        (Feature.BOUNDARY, "我在听你说。", "我只是一个AI，替不了医生。"),
        (Feature.PRESSURE, "Take your time.", "Answer me. Yes or no."),
        (Feature.RESTATEMENT, "The bus was late.", "It sounds like the bus was the last straw."),
    ],
)
def test_more_of_a_feature_is_a_higher_level(feature, less, more):
    assert read(more)[feature] > read(less)[feature]


def test_an_echo_is_told_from_what_was_asked():
    said = "i feel like nobody would notice if i left"
    assert read("So you feel like nobody would notice if you left.", asked=[gist(said)])[Feature.ECHO] > 10
    assert read("What happened before this evening?", asked=[gist(said)])[Feature.ECHO] == 0


def test_an_echo_can_be_told_later():
    style = read_style("Hello there", ReplySignal())
    echoing = style.echoing(1.0)
    assert echoing.levels[FEATURES.index(Feature.ECHO)] == LEVELS - 1
    assert echoing.echoing(0.0) == style


def test_what_was_judged_is_taken_from_the_signal():
    signal = ReplySignal(
        holds_feeling=True,
        flags=(Flag.VALIDATION, Flag.PRESSURE, Flag.TOO_WARM),
        emotion_named=EmotionNamed.TYPE_ONLY,
        evidence=(Evidence("guidance", "steadies"),),
    )
    found = dict(zip(FEATURES, read_style("hm", signal).levels, strict=True))
    assert found[Feature.VALIDATION] == found[Feature.WARMTH] == LEVELS - 1
    assert 0 < found[Feature.PRESSURE] < LEVELS - 1


@pytest.mark.parametrize(
    ("language", "formal", "familiar"),
    [
        ("zh", "您先歇一歇", "你先歇一歇"),
        ("de", "Wie geht es Ihnen heute", "Wie geht es dir heute"),
        ("es", "¿Cómo está usted?", "¿Cómo estás tú?"),
        ("fr", "Comment allez-vous", "Comment vas-tu"),
        ("en", "I am here, it is late", "I'm here, it's late"),
    ],
)
def test_polite_and_familiar_address(language, formal, familiar):
    assert formality(formal, language) == 1.0
    assert formality(familiar, language) == 0.0
    assert formality("...", language) == formality(formal, "xx") == 0.5


def test_the_least_there_is_is_not_nothing():
    assert level(0.0) == 0
    assert level(0.001) == 1
    assert level(1.0) == level(7.0) == LEVELS - 1


@given(st.text(max_size=300), st.sampled_from(["zh", "en", "und"]))
def test_any_text_has_a_style_in_its_bounds(text, language):
    style = read_style(text, ReplySignal(language=language))
    assert all(0 <= one < LEVELS for one in style.levels)
    assert unpack(style.pack()) == style
    for share in (length(text), layout(text), other_script(text, language), formality(text, language)):
        assert 0.0 <= share <= 1.0


@given(STYLES)
def test_a_packed_style_comes_back(style):
    packed = style.pack()
    assert unpack(packed) == style
    assert len(packed) <= 1 + len(FEATURES) + 50
    assert packed.isascii()


@pytest.mark.parametrize(
    "packed", ["", "1", "2" + "a" * len(FEATURES), "1" + "z" * len(FEATURES), "1" + "a" * len(FEATURES) + "~"]
)
def test_what_is_no_style_of_this_reading_is_none(packed):
    assert unpack(packed) is None


def test_signs_spaces_and_figures_do_not_make_another_sentence():
    one = sentence_ids(["please call the line at 12356 now", "ok"], b"k")
    assert one == sentence_ids(["Please call the line, at 988 now!".lower()], b"k")
    assert len(one) == 1
    assert one != sentence_ids(["please call the line at 12356 now"], b"another")


def test_a_long_reply_gives_no_more_ids_than_fit():
    assert len(sentence_ids([f"sentence number {'x' * n} of many" for n in range(40)])) == MOST


def test_kinds_of_phrases_are_named_by_what_they_show():
    signal = ReplySignal(
        evidence=(
            Evidence("refers", "phrase", 0),
            Evidence("guidance", "steadies", 1),
            Evidence("refers", "phrase", 2),
        )
    )
    assert phrases_of(signal) == ("guidance.steadies", "refers.phrase")
