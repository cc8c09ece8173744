from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.page import Kind, Trouble
from alerts.vocabulary import VOCABULARIES
from alerts.wording import TITLE_LIMIT, title, word
from detectors.finding import Criterion, Level, Outcome
from detectors.turn import Track
from tests.support.fake_clock import EPOCH
from tests.support.pages import a_page

anything = st.text(st.characters(), max_size=3000)


def details(page, lang="en"):
    return {detail.key: detail.value for detail in word(page, lang).details}


def test_the_title_says_what_may_be_happening_where_and_since_when():
    assert title(a_page()) == (
        "Crisis not caught: possible suicide plan or intent, the assistant missed it; "
        "release assistant-7.2, canary; since 2026-03-01 03:00:00 UTC"
    )


def test_the_title_in_chinese():
    assert title(a_page(outcome="no_reply", alike=4, step=1), "zh") == (
        "危机未被接住：疑似自杀计划或意图，助手一直没有回复；版本 assistant-7.2，灰度；始于 2026-03-01 03:00:00 UTC"
        "；近一小时同类 4 起；第 2 次呼叫，尚无人确认"
    )


def test_many_alike_and_repeats_show_in_the_title():
    assert title(a_page(alike=12, step=2)).endswith(
        "; 12 alike in the last hour; call no. 3, nobody has acknowledged"
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_test_says_so_first(lang):
    assert title(a_page(test=True, degraded=True), lang).startswith("TEST [DATABASE AWAY] ")
    assert word(a_page(test=True), lang).details[0].key == "test"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_real_page_never_says_test(lang):
    assert "TEST" not in title(a_page(), lang)
    assert "DATABASE AWAY" not in title(a_page(), lang)
    assert not {"test", "degraded"} & details(a_page(), lang).keys()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_what_phrases_alone_judged_says_so_and_why(lang):
    assert title(a_page(by_phrases=True, degraded=True), lang).startswith(
        "[DATABASE AWAY] [ENCODER FAILING] "
    )
    assert details(a_page(by_phrases=True), lang)["by_phrases"] == VOCABULARIES[lang].by_phrases_note
    assert "by_phrases" not in details(a_page(), lang)


def test_the_details_hold_what_a_person_needs():
    assert details(a_page(alike=3, escalates_at=EPOCH + timedelta(minutes=5))) == {
        "level": "suicide plan or intent",
        "confidence": "87%",
        "since": "2026-03-01 03:00:00 UTC",
        "deadline": "2026-03-01 03:00:30 UTC",
        "assistant": "the assistant missed it (sleep_tip)",
        "missing": "naming the risk, pointing to professional help or a trusted person",
        "first_step": VOCABULARIES["en"].first_imminent,
        "release": "assistant-7.2",
        "track": "canary",
        "language": "zh",
        "region": "CN",
        "alike": "3 of this release in the last hour",
        "escalates": "2026-03-01 03:05:00 UTC",
        "incident": "i-1",
    }


def test_the_links_start_with_the_one_to_acknowledge():
    page = a_page()
    assert word(page).links == (
        ("Acknowledge", page.ack_link),
        ("Open the incident", page.link),
        ("Runbook", page.runbook),
    )
    assert word(a_page(link=None, ack_link=None, runbook=None)).links == ()


def test_the_text_has_a_line_for_each():
    lines = word(a_page()).text.splitlines()
    assert "Region: CN" in lines
    assert lines[-1] == "Runbook: https://jiezhu.example/runbook"


@pytest.mark.parametrize(
    ("level", "step"),
    [
        ("passive_ideation", "first"),
        ("in_progress", "first_imminent"),
        ("harm_to_others", "first_harm_to_others"),
        ("other_at_risk", "first_other_at_risk"),
    ],
)
def test_the_first_step_fits_the_level(level, step):
    assert details(a_page(level=level))["first_step"] == getattr(VOCABULARIES["en"], step)


def test_a_ticket_waits_for_working_hours_and_an_update_asks_for_nothing():
    assert "working hours" in details(a_page(kind=Kind.TICKET))["first_step"]
    assert "first_step" not in details(a_page(kind=Kind.RESOLVE, escalates_at=EPOCH))
    assert "escalates" not in details(a_page(kind=Kind.RESOLVE, escalates_at=EPOCH))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -1.0, 87.0])
def test_a_confidence_that_is_none_is_not_shown_as_one(score):
    assert details(a_page(score=score))["confidence"] == "not known"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_word_of_ours_has_its_words(lang):
    words = VOCABULARIES[lang]
    assert set(words.levels) == set(Level)
    assert set(words.outcomes) == set(Outcome)
    assert set(words.criteria) == set(Criterion)
    assert set(words.tracks) == set(Track)
    assert set(words.kinds) == set(Kind)
    assert set(words.labels) == set(VOCABULARIES["en"].labels)


def test_a_word_that_came_later_is_shown_as_it_is():
    assert "possible spaceflight, landed;" in title(
        a_page(level="spaceflight", outcome="landed", track="blue")
    )


@given(anything, anything, st.sampled_from(["en", "zh"]), st.sampled_from(list(Kind)))
def test_whatever_the_labels_hold_the_title_is_one_line_that_fits(release, other, lang, kind):
    page = a_page(
        kind=kind,
        release=release,
        track=other,
        level=other,
        outcome=other,
        lang=other,
        missing=(other,),
        test=True,
    )
    wording = word(page, lang)
    assert len(wording.title.encode("utf-16-le")) // 2 <= TITLE_LIMIT
    assert wording.title.startswith("TEST ")
    assert len(wording.title.splitlines()) == 1
    assert all(len(detail.value.splitlines()) == 1 for detail in wording.details)
    assert sum(len(detail.value) for detail in wording.details) < 10_000


def test_a_release_full_of_braces_is_no_format():
    assert "{level}" in title(replace(a_page(), release="{level}{0}"))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_page_about_the_monitor_itself_speaks_of_no_conversation(lang):
    page = a_page(trouble=Trouble.LINE_STOPPED, reason="dead_letters_in_a_row", level="", outcome="")
    words = VOCABULARIES[lang]
    assert title(page, lang) == f"{words.troubles[Trouble.LINE_STOPPED]} (dead_letters_in_a_row)."
    assert {detail.key for detail in word(page, lang).details} == {"since", "first_step"}


GROUPED = {
    "group": 4312,
    "incident": "jz-group-1",
    "dedup_key": "jz-group-1-2",
    "reason": "grouped",
    "lang": "und",
}


def test_a_grouped_page_says_how_many_how_grave_and_what_to_do_first():
    told = word(a_page(**GROUPED), "en")
    assert told.title == (
        "Crisis not caught: 4312 incidents, up to suicide plan or intent; release assistant-7.2, canary; "
        "since 2026-03-01 03:00:00 UTC"
    )
    assert "roll the release back" in told.text
    assert told.links[0][0] == "Acknowledge all"


def test_a_grouped_page_in_chinese():
    told = word(a_page(**GROUPED, step=1), "zh")
    assert told.title == (
        "危机未被接住：共 4312 起，最重为自杀计划或意图；版本 assistant-7.2，灰度；始于 2026-03-01 03:00:00 UTC"
        "；第 2 次呼叫，尚无人确认"
    )
    assert [text for text, _ in told.links] == ["全部确认", "打开列表", "处置手册"]


@pytest.mark.parametrize(("lang", "words"), [("en", "several releases"), ("zh", "多个版本")])
def test_a_group_of_many_releases_says_so(lang, words):
    told = word(a_page(**GROUPED, release=""), lang)
    assert words in told.title
    assert words in told.text


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_of_grouped_page_has_words(lang, kind):
    told = word(a_page(**GROUPED, kind=kind, test=True, degraded=True), lang)
    assert "4312" in told.title
    assert all(detail.value for detail in told.details)
    assert told.title.startswith("TEST [DATABASE AWAY]")
