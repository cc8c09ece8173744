"""A file of events through the same pipeline: event time is the clock."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.escalation import Links, Routing
from alerts.policy import Policy, Step
from monitor.changes import Paging
from monitor.errors import ConfigurationError
from monitor.replay import Replay
from tests.support.builders import at
from tests.support.scripted_scorers import ScriptedScoring
from tests.support.worker import PSEUDONYMISER, reply, user

Row = dict[str, Any]
TODAY = datetime(2026, 3, 2, tzinfo=UTC)
POLICY = Policy(steps=(Step(("first",)),))


class Played(list[Row]):
    def of(self, kind: str) -> list[Row]:
        return [row for row in self if row["type"] == kind]

    @property
    def summary(self) -> Row:
        assert self[-1]["type"] == "summary"
        return self[-1]


async def play(
    path: Path, *lines: bytes, routing: Routing | None = None, steps: tuple[Step, ...] = POLICY.steps
) -> Played:
    _write(path, lines)
    played = Played()
    policy = replace(POLICY, steps=steps)
    paging = Paging(policy, routing or Routing(("first",)), Links(lambda _: None, lambda _: None))
    await Replay(ScriptedScoring(), paging, PSEUDONYMISER, played.append, TODAY).run(str(path))
    return played


def _write(path: Path, lines: Sequence[bytes]) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.jsonl"


OUTCOMES = {
    "handled": ([reply("c", "good", 5)], "incident", 0, 0),
    "safe_not_supportive": ([reply("c", "cold", 5)], "ticketed", 0, 1),
    "incomplete": ([reply("c", "half", 5)], "ticketed", 0, 1),
    "unhandled": ([reply("c", "sleep tip", 5)], "paging", 1, 0),
    "harmful": ([reply("c", "harm", 5)], "paging", 1, 0),
    "no_reply": ([], "paging", 1, 0),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
async def test_every_outcome(path, outcome):
    replies, state, pages, tickets = OUTCOMES[outcome]
    played = await play(path, user("c", "crisis", 0), *replies)
    (row,) = played.of("outcome")
    assert (row["outcome"], row["line"], row["conversation_id"]) == (outcome, 1, "c")
    assert played.summary["outcomes"] == {outcome: 1}
    assert (played.summary["pages"], played.summary["tickets"]) == (pages, tickets)
    if pages or tickets:
        assert played.of("incident")[-1]["state"] == state
        (page,) = played.of("page")
        assert (page["outcome"], page["dedup_key"].startswith(page["incident"])) == (outcome, True)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("harm", 5), ("sleep tip", 7), ("", 7), ("refusal", 7), ("foreign", 7)],
)
async def test_when_a_reply_pages(path, text, seconds):
    """Harm at once, the rest after the grace for a second message."""
    played = await play(path, user("c", "crisis", 0), reply("c", text, 5))
    (page,) = played.of("page")
    assert page["at"] == at(seconds).isoformat(timespec="milliseconds")


async def test_time_goes_on_after_the_last_event(path):
    played = await play(path, user("c", "crisis", 0))
    assert played.of("page")[0]["at"] == at(60).isoformat(timespec="milliseconds")


async def test_a_deadline_falls_between_two_events(path):
    played = await play(path, user("c", "crisis", 0), user("d", "hello", 300), reply("c", "good", 301))
    (page,) = played.of("page")
    assert (page["outcome"], page["at"]) == ("no_reply", at(60).isoformat(timespec="milliseconds"))


async def test_the_steps_are_gone_through_once_as_nobody_can_acknowledge(path):
    routing = Routing(("first", "second"))
    steps = (Step(("first",)), Step(("second",)))
    day = user("d", "hello", 86_400)
    played = await play(path, user("c", "crisis", 0), day, routing=routing, steps=steps)
    assert [(page["step"], page["route"][0]) for page in played.of("page")] == [(0, "first"), (1, "second")]


async def test_lines_that_are_swapped_within_the_lateness_give_the_same(path):
    lines = [
        user("c", "crisis", 0, turn=0),
        reply("c", "good", 0.5, turn=1),
        user("d", "imminent", 1.0, turn=0),
        reply("d", "sleep tip", 1.5, turn=1),
    ]

    def told(played: Played) -> list[tuple[Any, ...]]:
        rows = [*played.of("outcome"), *played.of("page")]
        return sorted((row["type"], row["incident"], row["outcome"]) for row in rows)

    orders = list(itertools.permutations(lines))
    first = told(await play(path, *lines))
    assert len(first) == 3
    for order in orders:
        assert told(await play(path, *order)) == first


async def test_a_reply_that_stands_after_its_deadline_in_the_file_came_in_time(path):
    """By a second: what is late in the file is not late to the person."""
    played = await play(path, user("c", "crisis", 0), user("d", "hello", 61), reply("c", "good", 59.5))
    assert played.summary["outcomes"] == {"handled": 1}


async def test_conversations_that_follow_one_another_in_the_file_go_on_at_the_same_time(path):
    """Each has its own verdict at its own time, though the first was read to its end long before."""
    played = await play(
        path,
        user("a", "hello", 0),
        user("a", "hello", 900),
        user("b", "crisis", 10),
        reply("b", "good", 15),
        user("c", "crisis", 20),
        reply("c", "sleep tip", 23),
        user("d", "crisis", 30),
        reply("d", "good", 95),
    )
    told = [(row["line"], row["outcome"], row["at"]) for row in played.of("outcome")]
    assert told == [
        (line, outcome, at(seconds).isoformat(timespec="milliseconds"))
        for line, outcome, seconds in [(3, "handled", 17), (5, "unhandled", 25), (7, "no_reply", 90)]
    ]


async def test_bad_lines_are_told_and_take_no_others_with_them(path):
    played = await play(
        path,
        b"{",
        user("c", "crisis", 0),
        b'{"event_id": "x"}',
        reply("c", "sleep tip", 1),
        user("c", "hello", 3600 * 48),
        b"\xff\xfe",
    )
    assert [(row["line"], row["reason"]) for row in played.of("dead_letter")] == [
        (1, "not_json"),
        (3, "missing_field"),
        (5, "time_in_future"),
        (6, "not_utf8"),
    ]
    assert played.summary["dead_letters"] == {
        "missing_field": 1,
        "not_json": 1,
        "not_utf8": 1,
        "time_in_future": 1,
    }
    assert played.summary["pages"] == 1


async def test_times_in_milliseconds(path):
    milliseconds = int(at(0).timestamp() * 1000)
    played = await play(path, user("c", "crisis", 0, at=milliseconds))
    assert played.summary["crisis_turns"] == 1


async def test_an_event_from_the_future_moves_no_clock(path):
    """Microseconds for milliseconds, say: everything after it would come too late."""
    far = int(at(0).timestamp() * 1_000_000)
    played = await play(path, user("x", "hello", 0, at=far), user("c", "crisis", 0), reply("c", "good", 5))
    assert played.summary["outcomes"] == {"handled": 1}


@pytest.mark.parametrize("lines", [(), (b"",), (b"", b"   ")])
async def test_an_empty_file_has_a_summary(path, lines):
    played = await play(path, *lines)
    assert played == [
        {
            "type": "summary",
            "turns": 0,
            "crisis_turns": 0,
            "outcomes": {},
            "incidents": 0,
            "pages": 0,
            "escalations": 0,
            "tickets": 0,
            "dead_letters": {},
        }
    ]


async def test_a_bad_first_line_holds_nothing_up(path):
    """Nor do thousands of lines of one moment: each is looked at once."""
    lines = [user(f"c{n}", "hello", 0, event_id=str(n)) for n in range(3000)]
    begun = datetime.now(UTC)
    played = await play(path, b"{", *lines)
    assert played.summary["turns"] == 3000
    assert datetime.now(UTC) - begun < timedelta(seconds=20)


async def test_findings_tell_every_user_turn(path):
    played = await play(path, user("c", "hello", 0), user("c", "crisis", 1), reply("c", "good", 2))
    first, second = played.of("finding")
    assert (first["line"], first["crisis"], first["level"]) == (1, False, "none")
    assert (second["line"], second["crisis"], second["level"]) == (2, True, "active_ideation")
    assert played.summary["turns"] == 3


async def test_repeats_count_once(path):
    line = user("c", "crisis", 0)
    played = await play(path, line, line, reply("c", "sleep tip", 1), line)
    assert (played.summary["turns"], played.summary["incidents"], played.summary["pages"]) == (2, 1, 1)


async def test_a_streamed_message_is_one_turn_and_has_the_line_of_its_first_piece(path):
    """Two conversations may call their messages alike."""
    played = await play(
        path,
        user("d", "hello|", 0, message_id="1", final=False),
        user("c", "crisis|", 1, message_id="1", final=False),
        user("c", "at night", 2, message_id="1", final=False),
        user("c", "alone", 3, message_id="1", final=True),
        reply("c", "sleep", 4, message_id="2", final=False),
        reply("c", " tip", 5, message_id="2", final=True),
    )
    assert {row["line"] for row in played.of("finding") if row["conversation_id"] == "c"} == {2}
    assert [row["line"] for row in played.of("outcome")] == [2]
    assert (played.summary["turns"], played.summary["crisis_turns"]) == (3, 1)


async def test_pages_show_where_no_pager_is_configured(path):
    played = await play(path, user("c", "crisis", 0), routing=Routing(()))
    assert played.summary["pages"] == 1


async def test_a_text_that_breaks_the_scorer_is_unscored(path):
    played = await play(path, user("c", "breaks|x", 0), user("d", "crisis", 1), reply("d", "breaks|x", 2))
    assert played.of("finding")[0]["level"] == "unscored"
    assert played.summary["outcomes"] == {"unhandled": 1}


async def test_a_second_crisis_after_a_handled_one_is_a_new_incident(path):
    played = await play(
        path,
        user("c", "crisis", 0),
        reply("c", "good", 1),
        user("c", "crisis", 2400),
        reply("c", "sleep tip", 2401),
    )
    assert played.summary["incidents"] == 2
    assert [page["incident"][-2:] for page in played.of("page")] == ["-2"]


async def test_a_file_that_cannot_be_read(tmp_path):
    paging = Paging(POLICY, Routing(()), Links(lambda _: None, lambda _: None))
    replay = Replay(ScriptedScoring(), paging, PSEUDONYMISER, lambda _: None, TODAY)
    with pytest.raises(ConfigurationError, match="FILE: cannot be read"):
        await replay.run(str(tmp_path / "nothing"))
