"""``detect`` and ``judge``: one answer a line, in order, bad lines in their place."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest

from detectors.finding import CRISIS_LEVELS, Criterion, Flag
from monitor.jsonl import read_rows
from monitor.judging import detect, judge, rate
from tests.support.scripted_scorers import ScriptedReplies, ScriptedScoring, ScriptedUsers


def rows_of(*lines: Any) -> list[Any]:
    raw = b"\n".join(line if isinstance(line, bytes) else orjson.dumps(line) for line in lines)
    return [row for batch in read_rows(io.BytesIO(raw)) for row in batch]


def detected(*lines: Any) -> list[dict[str, Any]]:
    return detect(rows_of(*lines), ScriptedUsers(), ScriptedReplies())


def judged(*lines: Any) -> list[dict[str, Any]]:
    return judge(rows_of(*lines), ScriptedUsers(), ScriptedReplies())


def turns(*said: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": role, "text": text} for role, text in said]


def test_detect_answers_as_promised():
    (answer,) = detected({"id": "a", "text": "crisis"})
    assert answer["id"] == "a"
    assert (answer["crisis"], answer["level"]) == (True, "active_ideation")
    assert 0 <= answer["score"] <= 1
    assert 0 <= answer["distress"] <= 1
    for name in ("emotions", "evidence"):
        assert isinstance(answer[name], list)


@pytest.mark.parametrize("level", [level.value for level in CRISIS_LEVELS])
def test_every_level_but_none_is_a_crisis(level):
    (answer,) = detected({"id": 1, "text": level})
    assert (answer["level"], answer["crisis"]) == (level, True)


def test_no_crisis():
    (answer,) = detected({"id": 1, "text": "hello"})
    assert (answer["level"], answer["crisis"]) == ("none", False)


def test_of_turns_the_last_one_of_the_user_counts():
    told = turns(("user", "crisis"), ("assistant", "good"), ("user", "plan_intent"), ("assistant", "chat"))
    assert detected({"id": 1, "turns": told})[0]["level"] == "plan_intent"


BAD = {
    "not JSON": b"{",
    "not an object": b"[]",
    "nothing said": {"id": 1},
    "no turns": {"id": 1, "turns": []},
    "turns of another kind": {"id": 1, "turns": "hello"},
    "a turn that is none": {"id": 1, "turns": ["hello"]},
    "a turn without text": {"id": 1, "turns": [{"role": "user"}]},
    "an unknown role": {"id": 1, "turns": [{"role": "bot", "text": "x"}]},
    "a role that is a list": {"id": 1, "turns": [{"role": ["user"], "text": "x"}]},
    "a text that is a number": {"id": 1, "text": 5},
    "an id that is a table": {"id": {"a": [1]}, "text": "hello"},
    "a language that is a number": {"id": 1, "text": "hello", "lang": 5},
    "not UTF-8": b"\xff\xfe{}",
    "NaN": b'{"id": 1, "text": NaN}',
    "deep": b'{"id": ' + b"[" * 2000 + b"]" * 2000 + b', "text": "hello"}',
    "half a surrogate": b'{"id": 1, "text": "\\ud800"}',
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
@pytest.mark.parametrize("command", [detected, judged])
def test_a_bad_line_is_answered_in_its_place(command, bad):
    good = {"id": "good", "turns": turns(("user", "crisis"), ("assistant", "good"))}
    answers = command(good, bad, good)
    assert [answer["id"] for answer in answers[::2]] == ["good", "good"]
    assert "error" not in answers[0]
    assert answers[1]["error"].startswith("line 2 ")
    assert set(answers[1]) == {"id", "error"}
    orjson.dumps(answers)


def test_texts_of_each_side_are_scored_in_one_call_and_only_what_was_said():
    users, replies = ScriptedUsers(), ScriptedReplies()
    told = turns(("user", "hello"), ("assistant", "chat"), ("system", "note"), ("user", "crisis"))
    detect(rows_of({"id": 1, "turns": told}, {"id": 2, "text": "imminent"}), users, replies)
    assert (users.calls, replies.calls) == ([["hello", "crisis", "imminent"]], [["chat"]])


def test_a_text_by_itself_asks_for_no_replies():
    users, replies = ScriptedUsers(), ScriptedReplies()
    detect(rows_of({"id": 1, "text": "hello"}), users, replies)
    assert (users.calls, replies.calls) == ([["hello"]], [])


def test_a_turn_of_the_assistant_keeps_its_place_among_the_users():
    """Each row's signals are its own, whatever stands in the rows beside it."""
    told = turns(("assistant", "good"), ("user", "plan_intent"), ("assistant", "chat"), ("user", "hello"))
    answers = detected({"id": 1, "turns": told}, {"id": 2, "text": "hello"}, {"id": 3, "text": "crisis"})
    assert [answer["level"] for answer in answers] == ["passive_ideation", "none", "active_ideation"]


def test_no_user_turn():
    (answer,) = detected({"id": 1, "turns": turns(("assistant", "good"))})
    assert "give at least one" in answer["error"]


def test_empty_lines_are_passed_over_and_counted():
    answers = detected(b"", {"id": 1, "text": "hello"}, b"  ", b"{")
    assert [answer.get("error", "")[:6] for answer in answers] == ["", "line 4"]


def test_a_byte_order_mark_is_no_part_of_the_first_line():
    answers = detected(
        b"\xef\xbb\xbf" + orjson.dumps({"id": 1, "text": "crisis"}), {"id": 2, "text": "hello"}
    )
    assert [answer.get("crisis") for answer in answers] == [True, False]


def test_batches_keep_the_order():
    lines = [{"id": n, "text": "hello"} for n in range(200)]
    assert [answer["id"] for answer in detected(*lines)] == list(range(200))


def test_judge_answers_as_promised():
    (answer,) = judged({"id": "a", "turns": turns(("user", "crisis"), ("assistant", "good"))})
    assert (answer["id"], answer["level"], answer["outcome"]) == ("a", "active_ideation", "handled")
    assert set(answer["criteria"]) == {criterion.value for criterion in Criterion}
    assert set(answer["criteria"].values()) == {True}
    assert answer["veto"] is False
    assert answer["emotion_named"] == "none"
    assert isinstance(answer["scale_a"], dict)
    assert set(answer["flags"]) <= {flag.value for flag in Flag}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("sleep tip", "unhandled"),
        ("", "unhandled"),
        ("refusal", "unhandled"),
        ("half", "incomplete"),
        ("cold", "safe_not_supportive"),
        ("harm", "harmful"),
    ],
)
def test_judge_knows_every_outcome(text, outcome):
    (answer,) = judged({"id": 1, "turns": turns(("user", "crisis"), ("assistant", text))})
    assert answer["outcome"] == outcome
    assert answer["veto"] is (outcome == "harmful")


def test_a_given_level_overrides_the_detected_one():
    told = turns(("user", "hello"), ("assistant", "sleep tip"))
    assert judged({"id": 1, "turns": told})[0]["outcome"] == "not_applicable"
    assert judged({"id": 1, "turns": told, "level": "plan_intent"})[0]["outcome"] == "unhandled"


def test_an_unknown_level_says_which_there_are():
    told = turns(("user", "crisis"), ("assistant", "good"))
    answers = judged({"id": 1, "turns": told, "level": "bad"}, {"id": 2, "turns": told})
    assert "passive_ideation" in answers[0]["error"]
    assert answers[1]["outcome"] == "handled"


def test_a_text_that_breaks_the_scorer_is_answered_like_the_others():
    scoring = ScriptedScoring()
    rows = rows_of({"id": 1, "text": "breaks|x"}, {"id": 2, "text": "crisis"})
    assert [answer["level"] for answer in detect(rows, scoring.users, scoring.replies)] == [
        "unscored",
        "active_ideation",
    ]


def rated(*lines: Any, lang: str = "en") -> list[dict[str, Any]]:
    return rate(rows_of(*lines), ScriptedUsers(), ScriptedReplies(), lang)


def test_score_marks_a_whole_conversation():
    (row,) = rated({"id": 7, "turns": turns(("user", "crisis"), ("assistant", "good"), ("user", "hello"))})
    assert row["id"] == 7
    assert row["scale_a"]["marks"]["crisis"]["mark"] == 4
    assert (row["scale_a"]["version"], row["scale_b"]["version"]) == ("A1", "B1")
    assert row["path"]["name"] == "crisis"


def test_one_harmful_reply_zeroes_a_conversation():
    (row,) = rated({"id": 1, "turns": turns(("user", "crisis"), ("assistant", "harm"))})
    assert (row["scale_a"]["total"], row["scale_b"]["warmth"], row["vetoed_at"]) == (0, 0.0, 1)


def test_score_answers_bad_lines_in_their_place():
    answers = rated(b"{", {"id": 1, "turns": turns(("assistant", "good"))}, {"id": 2, "text": "hello"})
    assert [("error" in one) for one in answers] == [True, True, False]


def test_no_words_come_back_from_score():
    words = "a sentence that is somebody's"
    (row,) = rated({"id": 1, "turns": turns(("user", words), ("assistant", words), ("user", "crisis"))})
    assert words not in orjson.dumps(row).decode()


def test_a_given_level_stands_over_what_is_remembered_and_over_turns_before_it():
    after = turns(("user", "crisis"), ("assistant", "good"), ("user", "hello"), ("assistant", "chat"))
    (answer,) = judged({"id": 1, "turns": after, "level": "plan_intent"})
    assert answer["level"] == "plan_intent"
    assert answer["outcome"] not in {"not_applicable", "handled"}
    both = turns(("user", "crisis"), ("user", "hello"), ("assistant", "chat"))
    (answer,) = judged({"id": 1, "turns": both, "level": "none"})
    assert (answer["level"], answer["outcome"]) == ("none", "not_applicable")


def test_a_person_of_the_staff_has_taken_over():
    talk = turns(("user", "crisis"), ("human_agent", "I am here"), ("user", "hello"), ("assistant", "chat"))
    (row,) = rated({"id": 1, "turns": talk})
    assert row["scale_b"]["gate"] != "missed"
