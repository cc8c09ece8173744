from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from detectors.context import contextual
from detectors.distress.marks import CONTEXT, marks_in
from detectors.finding import Cue, Evidence, Level, UserSignal


def said(text: str, level: Level = Level.NONE, *, score: float = 0.05, distress: float = 0.2) -> UserSignal:
    return UserSignal(level, 0.9 if level.crisis else score, distress, (), (), marks_in(text), "zh")


def levels(*signals: UserSignal) -> list[Level]:
    return [signal.level for signal in contextual(signals)]


def reason(signal: UserSignal) -> str:
    return next(e.source for e in signal.evidence if e.kind == CONTEXT)


def test_harmless_talk_stays_harmless():
    assert set(levels(said("你好"), said("我没事"), said("算了"), said("晚安"), said("嗯"))) == {Level.NONE}


def test_denial_after_disclosure_keeps_the_level():
    out = contextual([said("", Level.ACTIVE_IDEATION), said("我没事，开玩笑的")])
    assert out[1].level is Level.ACTIVE_IDEATION
    assert Cue.DISCLOSURE_DENIED in out[1].cues
    assert reason(out[1]) == "denial_after_disclosure"


def test_a_fragment_after_a_plan_keeps_the_level():
    assert levels(said("", Level.PLAN_INTENT), said("嗯")) == [Level.PLAN_INTENT, Level.PLAN_INTENT]


def test_calm_after_a_plan_is_at_least_passive():
    out = contextual([said("", Level.PLAN_INTENT), said("我想通了，现在挺平静的，明天还要上班去公司开会")])
    assert out[1].level is Level.PASSIVE_IDEATION
    assert reason(out[1]) == "calm_after_disclosure"


def test_after_active_disclosure_small_talk_stays_passive_to_the_end():
    talk = [said("今天中午和同事一起吃了牛肉面，味道很不错") for _ in range(15)]
    assert set(levels(said("", Level.ACTIVE_IDEATION), *talk)[1:]) == {Level.PASSIVE_IDEATION}


def test_a_doubtful_disclosure_is_closed_by_ordinary_talk():
    doubtful = UserSignal(Level.PLAN_INTENT, 0.45, 0.7)
    assert levels(doubtful, said("今天中午和同事一起吃了牛肉面，味道很不错"))[1] is Level.NONE


def test_a_later_passive_wish_does_not_close_a_plan():
    talk = [said("今天中午和同事一起吃了牛肉面，味道很不错") for _ in range(8)]
    out = levels(said("", Level.PLAN_INTENT), *talk, said("", Level.PASSIVE_IDEATION), *talk)
    assert set(out[1:]) == {Level.PASSIVE_IDEATION}


def test_after_a_passive_wish_a_credible_recovery_is_none():
    text = "我跟我妈说了，她来陪我了，我好多了"
    assert levels(said("", Level.PASSIVE_IDEATION), said(text))[1] is Level.NONE


def test_after_a_passive_wish_ordinary_talk_is_none_and_a_later_fragment_too():
    talk = "今天中午和同事一起吃了牛肉面，味道很不错"
    assert levels(said("", Level.PASSIVE_IDEATION), said(talk), said("嗯"))[1:] == [Level.NONE, Level.NONE]


def test_a_farewell_after_a_plan():
    out = contextual([said("", Level.PLAN_INTENT), said("谢谢你听我说了这么多话，真的真的很谢谢你了")])
    assert out[1].level is Level.PLAN_INTENT


def test_slow_escalation_ends_as_a_finding():
    rise = [said("话" * 20, distress=d) for d in (0.1, 0.2, 0.35, 0.5, 0.6)]
    last = said("话" * 20, score=0.34, distress=0.75)
    out = contextual([*rise, last])
    assert out[-1].level is Level.PASSIVE_IDEATION
    assert reason(out[-1]) == "slow_escalation"
    quiet = contextual([*rise, said("话" * 20, score=0.05, distress=0.75)])
    assert quiet[-1].level is Level.NONE
    assert reason(quiet[-1]) == "slow_build_up"


def test_unscored_after_disclosure_is_not_forgotten():
    out = contextual(
        [said("", Level.ACTIVE_IDEATION), said("una frase cualquiera que no conocemos", Level.UNSCORED)]
    )
    assert out[1].level is Level.PASSIVE_IDEATION


one = st.builds(
    UserSignal,
    st.sampled_from(list(Level)),
    st.floats(0, 1),
    st.floats(0, 1),
    st.just(()),
    st.sampled_from([(), (Cue.SILENCE,)]),
    st.lists(st.sampled_from(["denial", "fragment", "farewell", "calm", "recovery"]), max_size=2).map(
        lambda names: tuple(Evidence(CONTEXT, name) for name in names)
    ),
)


@given(st.lists(one, max_size=12))
def test_context_never_lowers_a_crisis_and_does_not_look_ahead(signals):
    out = contextual(signals)
    assert len(out) == len(signals)
    for before, after in zip(signals, out, strict=True):
        if before.level.crisis:
            assert after.level is before.level
    for cut in range(len(signals)):
        assert contextual(signals[:cut]) == out[:cut]
