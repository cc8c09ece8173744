from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.signing import LinkExpiredError, LinkWrongError, link, sign, verify
from tests.support.fake_clock import EPOCH

KEY = bytes(range(32))
OLD = bytes(range(32, 64))
EXPIRES = EPOCH + timedelta(hours=1)
STAMP = str(int(EXPIRES.timestamp()))


def test_a_link_carries_what_is_checked():
    parts = urlsplit(link(KEY, "https://jiezhu.example/", "i/1?", "acknowledge", EXPIRES))
    query = {name: value for name, [value] in parse_qs(parts.query).items()}
    assert parts.path == "/incidents/i%2F1%3F/acknowledge"
    verify([KEY], "i/1?", "acknowledge", query["expires"], query["signature"], EPOCH)


def test_a_link_holds_until_it_expires_and_no_longer():
    signature = sign(KEY, "i-1", "acknowledge", EXPIRES)
    verify([KEY], "i-1", "acknowledge", STAMP, signature, EXPIRES - timedelta(seconds=1))
    with pytest.raises(LinkExpiredError):
        verify([KEY], "i-1", "acknowledge", STAMP, signature, EXPIRES)


@pytest.mark.parametrize(
    ("incident", "action", "expires"),
    [
        ("i-2", "acknowledge", STAMP),
        ("i-1", "resolve", STAMP),
        ("i-1", "acknowledge", str(int(STAMP) + 9)),
        ("i-1", "acknowledge", "0" + STAMP),
        ("i-1", "acknowledge", "never"),
        ("i-1", "acknowledge", ""),
        ("i-1a", "cknowledge", STAMP),
    ],
)
def test_a_link_is_for_one_incident_one_action_and_one_time(incident, action, expires):
    with pytest.raises(LinkWrongError):
        verify([KEY], incident, action, expires, sign(KEY, "i-1", "acknowledge", EXPIRES), EPOCH)


@given(st.text(st.characters(), max_size=70))
def test_no_other_signature_will_do(signature):
    with pytest.raises(LinkWrongError):
        verify([KEY], "i-1", "acknowledge", STAMP, signature, EPOCH)


def test_a_forged_link_is_wrong_even_when_expired():
    with pytest.raises(LinkWrongError):
        verify([KEY], "i-1", "acknowledge", STAMP, "0" * 64, EXPIRES + timedelta(days=1))


def test_links_of_the_key_before_hold_while_keys_rotate():
    signature = sign(OLD, "i-1", "acknowledge", EXPIRES)
    verify([KEY, OLD], "i-1", "acknowledge", STAMP, signature, EPOCH)
    with pytest.raises(LinkWrongError):
        verify([KEY], "i-1", "acknowledge", STAMP, signature, EPOCH)
    with pytest.raises(LinkWrongError):
        verify([], "i-1", "acknowledge", STAMP, signature, EPOCH)


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="at least 16 bytes"):
        sign(b"short", "i-1", "acknowledge", EXPIRES)


def test_errors_name_their_reason_and_nothing_of_the_link():
    assert (LinkExpiredError.reason, LinkWrongError.reason) == ("link_expired", "link_wrong")
    assert "i-1" not in str(LinkWrongError()) + str(LinkExpiredError())
