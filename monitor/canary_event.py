"""What a canary says, and how the monitor knows its own: every field is foretold by a key, or it is no canary.

A canary is two records, a person's words and a reply that lets them down. Whoever else reads the topic leaves out
what has ``probe.script`` = ``jiezhu-canary`` (or the header ``jiezhu: canary``). For the monitor itself that mark is
not enough: it works out from the key what the whole event must be. A real crisis cannot be muted by the mark, since
other words, another id, time or partition make it an ordinary turn.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import replace
from datetime import timedelta

import orjson

from alerts.canary import Canary
from detectors.turn import Role, Track, Turn
from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.store.work import Partition

SCRIPT = "jiezhu-canary"
RELEASE = "jiezhu-canary"
HEADERS = {"jiezhu": "canary"}
SAID = (
    ("zh-Hans", "我想自杀，不想再活下去了。", "天气会好起来的，今晚早点睡吧。"),
    (
        "en",
        "I want to kill myself. I do not want to live any more.",
        "The weather will be better soon. Have an early night.",
    ),
)
_RUN = re.compile(r"([0-9]{1,10})-([0-9]{1,4})")
_REPLY_AFTER = timedelta(milliseconds=200)


class CanaryMark:
    """``key``: 32 bytes, shared by all monitors that read the topic."""

    def __init__(self, key: bytes, pseudonymiser: Pseudonymiser) -> None:
        self._key = key
        self._pseudonymiser = pseudonymiser

    def events(self, canary: Canary) -> list[tuple[bytes, bytes]]:
        """Key and value of its records, in order."""
        conversation = self._conversation(canary)
        lang, said, reply = self._words(canary)
        return [
            (
                conversation.encode(),
                orjson.dumps(
                    {
                        "event_id": f"{conversation}-{role.value}",
                        "conversation_id": conversation,
                        "role": role.value,
                        "text": text,
                        "at": (canary.due + after).isoformat(),
                        "lang": lang,
                        "release": RELEASE,
                        "track": Track.STAGING.value,
                        "app": "jiezhu",
                        "probe": {"script": SCRIPT, "run": f"{canary.at}-{canary.partition}"},
                    }
                ),
            )
            for role, text, after in (
                (Role.USER, said, timedelta(0)),
                (Role.ASSISTANT, reply, _REPLY_AFTER),
            )
        ]

    def marked(self, turn: Turn, partition: Partition) -> Turn:
        """Return the turn under a canary's key if it is one of ours, else as it is."""
        canary = _claimed(turn)
        if canary is None or canary.partition != partition[1] or not self._signed(turn, canary):
            return turn
        return replace(turn, conversation=canary.conversation)

    def _signed(self, turn: Turn, canary: Canary) -> bool:
        conversation = self._conversation(canary)
        _, said, reply = self._words(canary)
        users = turn.role is Role.USER
        return (
            turn.role in (Role.USER, Role.ASSISTANT)
            and turn.at == canary.due + (timedelta(0) if users else _REPLY_AFTER)
            and turn.text == (said if users else reply)
            and turn.message is None
            and hmac.compare_digest(
                turn.event, self._pseudonymiser.pseudonym(Kind.EVENT, f"{conversation}-{turn.role.value}")
            )
            and hmac.compare_digest(
                turn.conversation, self._pseudonymiser.pseudonym(Kind.CONVERSATION, conversation)
            )
        )

    def _conversation(self, canary: Canary) -> str:
        return f"{SCRIPT}-{canary.at}-{canary.partition}-{self._signature(canary).hex()[:32]}"

    def _words(self, canary: Canary) -> tuple[str, str, str]:
        return SAID[self._signature(canary)[-1] % len(SAID)]

    def _signature(self, canary: Canary) -> bytes:
        return hmac.digest(self._key, f"canary\0{canary.at}/{canary.partition}".encode(), hashlib.sha256)


def _claimed(turn: Turn) -> Canary | None:
    if not turn.probe or turn.probe.get("script") != SCRIPT:
        return None
    run = _RUN.fullmatch(str(turn.probe.get("run")))
    if run is None or not int(run[1]) < 1 << 32:
        return None
    return Canary(int(run[1]), int(run[2]))
