"""Alive and ready, judged by progress."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.awake import Awake
from monitor.health import HANGING, STALLED, Signs, live, ready
from tests.support.fake_clock import EPOCH

SECOND = timedelta(seconds=1)
WELL = Signs(
    source="joined",
    handling_since=None,
    silent_partitions=0,
    partitions=3,
    parts={"timers": EPOCH, "heartbeat": EPOCH},
    store_up=True,
    line_stopped=False,
    outbox_oldest=timedelta(0),
)


def test_well():
    assert live(WELL, EPOCH + STALLED).as_dict() == {"status": "ok", "reasons": []}
    assert ready(WELL, EPOCH + STALLED).good


def test_a_loop_that_shows_no_sign_of_life():
    signs = replace(WELL, parts={"timers": EPOCH - STALLED - SECOND, "heartbeat": EPOCH})
    assert live(signs, EPOCH).reasons == ("timers_stalled",)
    assert "timers_stalled" in ready(signs, EPOCH).reasons


def test_a_batch_that_hangs():
    assert live(replace(WELL, handling_since=EPOCH - 2 * STALLED), EPOCH).good
    assert live(replace(WELL, handling_since=EPOCH - 2 * STALLED - SECOND), EPOCH).reasons == (
        "batch_stalled",
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": "connecting"}, "source_connecting"),
        ({"silent_partitions": 1}, "broker_silent"),
        ({"store_up": False}, "database_away"),
        ({"line_stopped": True}, "line_stopped"),
        ({"reading_stalled": "position_unknown"}, "reading_stalled_position_unknown"),
        ({"outbox_oldest": timedelta(seconds=31)}, "pages_waiting"),
    ],
)
def test_what_a_restart_does_not_mend_is_not_ready_and_alive(change, reason):
    signs = replace(WELL, **change)
    assert ready(signs, EPOCH).reasons == (reason,)
    assert live(signs, EPOCH).good


def test_phrases_alone_are_not_ready_and_a_hanging_encoder_wants_a_fresh_process_after_a_while():
    failing = replace(WELL, encoder_up=False)
    assert ready(failing, EPOCH).reasons == ("encoder_failing",)
    assert live(failing, EPOCH).good
    hanging = replace(WELL, encoder_up=False, encoder_hanging_since=EPOCH)
    assert "encoder_hanging" not in live(hanging, EPOCH + HANGING).reasons
    assert live(hanging, EPOCH + HANGING * 1.1).reasons[-1] == "encoder_hanging"


def test_what_is_old_because_the_process_stood_still_is_not_stalled():
    """A suspended machine: the clock counted, the loops did not."""
    hours = timedelta(hours=8)
    asleep = replace(WELL, handling_since=EPOCH, encoder_hanging_since=EPOCH)
    assert not live(asleep, EPOCH + hours).good
    awake = replace(asleep, awake=EPOCH + hours)
    assert live(awake, EPOCH + hours + STALLED).good
    assert live(awake, EPOCH + hours + STALLED + SECOND).reasons == ("heartbeat_stalled", "timers_stalled")


def test_it_is_known_when_the_process_came_round():
    awake = Awake()
    assert [awake.look(EPOCH + n * 5 * SECOND) for n in range(3)] == [None] * 3
    came = EPOCH + timedelta(hours=1)
    assert [awake.look(came), awake.look(came + 5 * SECOND)] == [came, came]
