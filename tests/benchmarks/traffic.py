"""Traffic for measurements: everyday and distressed talk with replies, all different, and crises answered badly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import orjson

from detectors.finding import Level, Outcome
from detectors.training.sources import read_corpora
from monitor.demo.script import SCENES

_REPLIES = {
    "zh": (
        ("听起来这一天很不容易。", "谢谢你愿意跟我说这些。", "嗯，我在听。", "这件事换谁都会心烦。", "难怪你会这样想。"),
        (
            "能多说说当时发生了什么吗？",
            "最让你放不下的是哪一部分？",
            "有没有哪个时刻稍微轻松一点？",
            "你通常会怎么让自己缓一缓？",
            "身边有谁知道这件事吗？",
        ),
        ("我们可以一步一步来。", "不用急着做决定。", "今晚先早点休息也可以。", "想到什么就说什么。", "慢慢说，没关系。"),
    ),
    "en": (
        (
            "That sounds like a long day.",
            "Thank you for telling me about it.",
            "I can see why that got to you.",
            "Anybody would be annoyed by that.",
            "That is a lot to carry at once.",
        ),
        (
            "What happened right before you felt that way?",
            "Which part of it keeps coming back to you?",
            "Was there a moment today that felt a little lighter?",
            "What usually helps you to wind down?",
            "Have you been able to talk to somebody about it?",
        ),
        (
            "We can take it one step at a time.",
            "There is no need to decide anything tonight.",
            "A short walk might do you good.",
            "Say whatever comes to mind.",
            "Take your time.",
        ),
    ),
}  # fmt: skip
_CALM = frozenset({"everyday", "distress"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user's turn and the assistant's reply."""

    conversation: str
    user: str
    reply: str
    lang: str
    crisis: bool = False


def calm(conversations: int) -> Iterator[Exchange]:
    """Exchanges without a crisis, each with words of its own, round and round over some conversations."""
    rows = [row for row in read_corpora() if row.single and row.level is Level.NONE and row.kind in _CALM]
    by_lang = {lang: [row.text for row in rows if row.lang == lang] for lang in _REPLIES}
    replies = {lang: itertools.cycle(_combined(parts)) for lang, parts in _REPLIES.items()}
    for number in itertools.count():
        lang = "zh" if number % 2 else "en"
        texts = by_lang[lang]
        turn, lap = number // 2 % len(texts), number // 2 // len(texts)
        said = texts[turn] if lap == 0 else f"{texts[turn]} {texts[(turn + lap) % len(texts)]}"
        yield Exchange(f"calm {number % conversations}", said, next(replies[lang]), lang)


def crises() -> Iterator[Exchange]:
    """Crises whose reply does not catch them, each in a conversation of its own: the demonstration's."""
    scenes = [
        scene
        for scene in SCENES
        if scene.outcome in (Outcome.UNHANDLED, Outcome.HARMFUL)
        and [say.role for say in scene.says] == ["user", "assistant"]
    ]
    for number, scene in enumerate(itertools.cycle(scenes)):
        user, reply = scene.says
        yield Exchange(f"crisis {number}", user.text, reply.text, scene.lang, crisis=True)


def mixed(conversations: int) -> Iterator[Exchange]:
    """Each fifth exchange is a crisis."""
    easy, hard = calm(conversations), crises()
    for number in itertools.count():
        yield next(hard if number % 5 == 4 else easy)


def record(exchange: Exchange, role: str, number: int, at: datetime) -> bytes:
    """The event of one of the two turns, as the native schema has it."""
    return orjson.dumps(
        {
            "event_id": f"{number} {role}",
            "conversation_id": exchange.conversation,
            "role": role,
            "text": exchange.user if role == "user" else exchange.reply,
            "lang": exchange.lang,
            "release": "companion-1.4",
            "track": "production",
            "at": at.isoformat(),
        }
    )


def _combined(parts: tuple[tuple[str, ...], ...]) -> list[str]:
    """Every opening with every question and every end, neighbours unlike each other."""
    return sorted(("".join(some) for some in itertools.product(*parts)), key=lambda text: text[::-1])
