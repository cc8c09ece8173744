"""A page in words: one line that wakes somebody, and what they need to know next. Never a word of a user's."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from alerts.page import Kind, Page
from alerts.plain import clip, one_line
from alerts.vocabulary import VOCABULARIES, Vocabulary
from detectors.finding import Level

Lang = Literal["en", "zh"]
TITLE_LIMIT = 1024
_VALUE_LIMIT = 512
_LINK_LIMIT = 2048
_LINKS = ("link", "ack_link", "runbook")
_RELEASE_IN_TITLE = 80


@dataclass(frozen=True, slots=True)
class Detail:
    """``key`` is stable and in English, for machines; ``label`` and ``value`` are for people."""

    key: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Wording:
    """``links`` are (text, URL), the one to acknowledge with first."""

    title: str
    details: tuple[Detail, ...]
    links: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """Details and links as lines, for channels that show plain text."""
        lines = [f"{detail.label}: {detail.value}" for detail in self.details]
        return "\n".join(lines + [f"{text}: {url}" for text, url in self.links])


def tidy(page: Page) -> Page:
    """Make every string of the page one bounded line. Keys are left whole: cut, two could become one."""
    changes: dict[str, Any] = {}
    for field in fields(page):
        value = getattr(page, field.name)
        if field.name in ("kind", "trouble", "dedup_key", "incident") or not isinstance(value, str):
            continue
        limit = _LINK_LIMIT if field.name in _LINKS else _VALUE_LIMIT
        changes[field.name] = clip(one_line(value), limit)
    return replace(
        page, missing=tuple(clip(one_line(item), _VALUE_LIMIT) for item in page.missing), **changes
    )


def word(page: Page, lang: Lang = "en") -> Wording:
    """Put a page into words (DESIGN §7). ``TEST`` stands first if it is one."""
    page = tidy(page)
    words = VOCABULARIES[lang]
    return Wording(title(page, lang), _details(page, words), _links(page, words))


def title(page: Page, lang: Lang = "en") -> str:
    """One line of at most 1,024 characters."""
    page = tidy(page)
    words = VOCABULARIES[lang]
    marks = (
        ("TEST " if page.test else "")
        + ("[DATABASE AWAY] " if page.degraded else "")
        + ("[ENCODER FAILING] " if page.by_phrases else "")
    )
    if page.trouble is not None:
        over = f"{words.kinds[page.kind]}: " if page.kind is Kind.RESOLVE else ""
        return clip(f"{marks}{over}{words.troubles[page.trouble]} ({page.reason}).", TITLE_LIMIT)
    if page.group:
        return clip(marks + _group_title(page, words), TITLE_LIMIT)
    line = words.title.format(
        kind=words.kinds[page.kind],
        level=words.levels.get(page.level, page.level),
        outcome=words.outcomes.get(page.outcome, page.outcome),
        release=clip(page.release, _RELEASE_IN_TITLE),
        track=words.tracks.get(page.track, page.track),
        since=_time(page.since),
    )
    if page.alike > 1:
        line += words.title_alike.format(count=page.alike)
    if page.step > 0 and page.kind is Kind.PAGE:
        line += words.title_step.format(step=page.step + 1)
    return clip(marks + line, TITLE_LIMIT)


def _group_title(page: Page, words: Vocabulary) -> str:
    line = words.title_group.format(
        kind=words.kinds[page.kind],
        count=page.group,
        level=words.levels.get(page.level, page.level),
        release=clip(page.release, _RELEASE_IN_TITLE) or words.several_releases,
        track=words.tracks.get(page.track, page.track),
        since=_time(page.since),
    )
    if page.step > 0 and page.kind is Kind.PAGE:
        line += words.title_step.format(step=page.step + 1)
    return line


def _group_details(page: Page, words: Vocabulary) -> tuple[Detail, ...]:
    calls = page.kind in (Kind.PAGE, Kind.TICKET)
    first = words.first_group if page.kind is Kind.PAGE else words.first_ticket_group
    gravest = words.levels.get(page.level, page.level)
    values = {
        "test": words.test_note if page.test else "",
        "degraded": words.degraded_note if page.degraded else "",
        "group": words.group.format(count=page.group),
        "gravest": f"{gravest}{words.comma}{words.outcomes.get(page.outcome, page.outcome)}",
        "since": _time(page.since),
        "first_step": first if calls else "",
        "release": page.release or words.several_releases,
        "track": words.tracks.get(page.track, page.track),
        "escalates": _time(page.escalates_at) if page.escalates_at and calls else "",
        "incident": clip(one_line(page.incident), _VALUE_LIMIT),
    }
    return tuple(Detail(key, words.labels[key], value) for key, value in values.items() if value)


def _details(page: Page, words: Vocabulary) -> tuple[Detail, ...]:
    if page.trouble is not None:
        values = {
            "test": words.test_note if page.test else "",
            "since": _time(page.since),
            "first_step": words.first_troubles[page.trouble],
        }
        return tuple(Detail(key, words.labels[key], value) for key, value in values.items() if value)
    if page.group:
        return _group_details(page, words)
    missing = words.comma.join(words.criteria.get(item, item) for item in page.missing)
    outcome = words.outcomes.get(page.outcome, page.outcome)
    calls = page.kind in (Kind.PAGE, Kind.TICKET)
    values = {
        "test": words.test_note if page.test else "",
        "degraded": words.degraded_note if page.degraded else "",
        "by_phrases": words.by_phrases_note if page.by_phrases else "",
        "level": words.levels.get(page.level, page.level),
        "confidence": _percent(page.score, words),
        "since": _time(page.since),
        "deadline": _time(page.deadline) if page.deadline else "",
        "assistant": f"{outcome} ({page.reason})",
        "missing": missing,
        "first_step": _first_step(page, words) if calls else "",
        "release": page.release,
        "track": words.tracks.get(page.track, page.track),
        "language": page.lang,
        "region": page.region,
        "alike": words.alike.format(count=page.alike),
        "escalates": _time(page.escalates_at) if page.escalates_at and calls else "",
        "incident": clip(one_line(page.incident), _VALUE_LIMIT),
    }
    return tuple(Detail(key, words.labels[key], value) for key, value in values.items() if value)


def _links(page: Page, words: Vocabulary) -> tuple[tuple[str, str], ...]:
    acknowledge, show = (
        (words.acknowledge_group, words.open_group) if page.group else (words.acknowledge, words.open)
    )
    links = ((acknowledge, page.ack_link), (show, page.link), (words.runbook, page.runbook))
    return tuple((text, url) for text, url in links if url)


def _first_step(page: Page, words: Vocabulary) -> str:
    if page.kind is Kind.TICKET:
        return words.first_ticket
    if page.level == Level.HARM_TO_OTHERS:
        return words.first_harm_to_others
    if page.level == Level.OTHER_AT_RISK:
        return words.first_other_at_risk
    if page.level in _IMMINENT:
        return words.first_imminent
    return words.first


_IMMINENT = frozenset(level.value for level in Level if level.imminent)


def _percent(score: float, words: Vocabulary) -> str:
    return f"{score:.0%}" if 0.0 <= score <= 1.0 else words.unknown


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
