"""A canary's page goes to its own channel, once, and to nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alerts.canary import CHANNEL, Canary, as_test, canary_of, is_canary
from alerts.delivery import Answer, Delivery, RetryPolicy, outlived
from alerts.page import Kind
from alerts.pagers.canary import CanaryChannel
from alerts.ports import Notification
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.fake_pager import FakePager
from tests.support.pages import a_page

CANARY = Canary(int(EPOCH.timestamp()), 11)


def told(**changes) -> Notification:
    page = a_page(**{"dedup_key": CANARY.incident, "incident": CANARY.incident, **changes})
    return Notification("n", page, Delivery(("oncall", "second"), next_at=EPOCH), EPOCH)


def test_a_name_leads_back_to_its_canary():
    assert canary_of(CANARY.incident) == CANARY
    assert CANARY.due == EPOCH
    assert is_canary(CANARY.conversation)


@pytest.mark.parametrize("incident", ["jz-0123456789abcdef0123-1", "jz-canary-1", f"{CANARY.incident}0", ""])
def test_no_other_incident_is_one(incident):
    assert canary_of(incident) is None


def test_no_pseudonym_is_taken_for_one():
    assert not is_canary("ca0123456789abcdef0123456789abcd")


def test_people_are_left_out_of_its_page():
    [row] = as_test([told(), told()])
    assert row.id == CANARY.notification
    assert row.delivery.route == (CHANNEL,)
    assert (row.page.test, row.page.canary, row.page.ack_link) == (True, True, None)


@pytest.mark.parametrize(
    "changes",
    [{"kind": Kind.TICKET}, {"kind": Kind.RESOLVE}, {"step": 1}, {"dedup_key": f"{CANARY.incident}-r9"}],
)
def test_nothing_but_the_first_page_is_sent(changes):
    assert as_test([told(**changes)]) == []


async def test_its_channel_takes_no_page_of_a_person():
    answer = await CanaryChannel().send(a_page())
    assert answer.answer is Answer.REJECTED


async def test_without_a_pager_the_relays_word_counts():
    assert (await CanaryChannel().send(a_page(canary=True))).answer is Answer.ACCEPTED


async def test_with_one_it_is_asked():
    pager = FakePager("test", FakeClock())
    page = replace(a_page(), canary=True)
    assert (await CanaryChannel(pager).send(page)).answer is Answer.ACCEPTED
    assert pager.got == [page]


def test_one_that_is_late_is_given_up_and_a_persons_page_never():
    policy = RetryPolicy()
    age = policy.canary_lifetime + EPOCH.resolution
    assert outlived(Kind.PAGE, age, policy, canary=True)
    assert not outlived(Kind.PAGE, age, policy)
