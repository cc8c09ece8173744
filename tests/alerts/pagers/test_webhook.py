from datetime import timedelta

import httpx2
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.page import Kind
from alerts.pagers.signature import (
    IDEMPOTENCY,
    SIGNATURE,
    TIMESTAMP,
    SignatureStaleError,
    SignatureWrongError,
    check,
    signature,
)
from alerts.pagers.webhook import Webhook, WebhookSettings, idempotency_key, message
from tests.support.fake_clock import EPOCH, FakeClock
from tests.support.pages import a_page
from tests.support.scripted_server import ScriptedServer

SECRET = b"shared"
STAMP = int(EPOCH.timestamp())


async def sent(*pages):
    client = httpx2.AsyncClient(trust_env=False)
    async with ScriptedServer() as server, client:
        pager = Webhook(WebhookSettings(url=server.url, secret="shared"), FakeClock(), client)
        for page in pages:
            await pager.send(page)
        return server.requests


async def test_a_receiver_can_tell_that_it_was_us():
    [request] = await sent(a_page())
    stamp, mac = request.headers[TIMESTAMP.lower()], request.headers[SIGNATURE.lower()]
    check(SECRET, stamp, mac, request.body, EPOCH + timedelta(minutes=4))
    with pytest.raises(SignatureWrongError):
        check(b"another", stamp, mac, request.body, EPOCH)
    with pytest.raises(SignatureWrongError):
        check(SECRET, stamp, mac, request.body + b" ", EPOCH)
    with pytest.raises(SignatureWrongError):
        check(SECRET, str(int(stamp) + 1), mac, request.body, EPOCH)


@pytest.mark.parametrize("minutes", [-6, 6])
async def test_a_receiver_can_refuse_a_replay(minutes):
    body = b"{}"
    with pytest.raises(SignatureStaleError):
        check(SECRET, str(STAMP), signature(SECRET, STAMP, body), body, EPOCH + timedelta(minutes=minutes))


def test_two_signatures_may_stand_while_secrets_are_exchanged():
    both = f"{signature(b'old', STAMP, b'x')}, {signature(SECRET, STAMP, b'x')}"
    check(SECRET, str(STAMP), both, b"x", EPOCH)


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=80))
def test_whatever_stands_in_the_headers_it_is_refused_by_name(stamp, mac):
    with pytest.raises(SignatureWrongError):
        check(SECRET, stamp, mac, b"{}", EPOCH)


def test_the_signature_is_the_documented_one():
    """Worked out by `printf '1772334000.{}' | openssl dgst -sha256 -hmac shared`."""
    assert STAMP == 1772334000
    assert (
        signature(SECRET, STAMP, b"{}")
        == "v1=a6e4fba29ea7db0206d867a3e949fecaa6ae978a98232a9faf73b8aeca9a5e79"
    )


async def test_the_same_page_sent_again_has_the_same_idempotency_key_and_nothing_else_has():
    kinds = [a_page(kind=kind) for kind in Kind]
    pages = [a_page(), a_page(), a_page(step=1), a_page(dedup_key="i-2"), *kinds[1:]]
    keys = [request.headers[IDEMPOTENCY.lower()] for request in await sent(*pages)]
    assert keys[0] == keys[1]
    assert len(set(keys)) == len(keys) - 1
    assert all(key.startswith("i-") for key in keys)


def test_a_key_that_fits_no_header_is_hashed():
    key = idempotency_key(a_page(dedup_key="键\r\nX-Evil: 1"))
    assert key.isascii()
    assert key.isprintable()


def test_the_body_has_the_facts_and_the_words():
    said = orjson.loads(message(a_page(), WebhookSettings(url="http://127.0.0.1", secret="s")))
    assert said["version"] == 1
    assert said["kind"] == "page"
    assert said["dedup_key"] == said["incident"] == "i-1"
    assert (said["level"], said["outcome"], said["reason"]) == ("plan_intent", "unhandled", "sleep_tip")
    assert said["missing"] == ["risk_recognised", "refers"]
    assert said["since"] == "2026-03-01T03:00:00+00:00"
    assert said["escalates_at"] is None
    assert said["title"].startswith("Crisis not caught")
    assert said["details"]["first_step"]
