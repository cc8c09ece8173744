"""A reply made ready for its judges: one form of writing, one sentence a line, quotations blanked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from detectors.text.plain import plain

HEAD, TAIL = 4_000, 2_000
"""Characters that the criteria read from a long reply: a person reads no more. Harm is sought in all of it."""
WHOLE = 100_000
"""Characters read at all; a reply longer than this is ``cut`` and can never count as handled."""

QUOTE = "▢"
"""Stands for a quotation: the user's words, or words the user may say to somebody."""

_STOPS = re.compile(
    r"([。!?…~;]+[」』”’\"')\]]*|(?<![\d.][\d.])(?<!\bdr)(?<!\b[ap]\.m)\.+[\"')\]]*(?=\s|$|[一-鿿]))"
)
_QUOTED = re.compile(
    r"“[^”\n]{1,400}”|「[^」\n]{1,400}」|『[^』\n]{1,400}』|(?<![\w])\"[^\"\n]{1,400}\"(?!\w)"
)


@dataclass(frozen=True, slots=True)
class ReplyText:
    """``said`` is head and tail without quotations, ``whole`` all of the reply without them.

    ``full`` is head and tail with its quotations (for numbers and languages). One sentence a line. ``empty``: nothing in it,
    nor between, that could be read as a word: also lone signs, dots and pictures. What is ``cut`` never is.
    """

    said: str = field(repr=False)
    whole: str = field(repr=False)
    full: str = field(repr=False)
    empty: bool
    cut: bool = False

    @property
    def worded(self) -> str:
        """From the first letter on, wherever that stands: a language is told from the beginning."""
        for text in (self.full, self.whole):
            first = next((place for place, sign in enumerate(text) if sign.isalpha()), None)
            if first is not None:
                return text[first:]
        return ""


def read(text: str) -> ReplyText:
    """Read a reply. Time grows with its length, up to ``WHOLE`` characters."""
    cut = len(text) > WHOLE
    if cut:
        text = text[: WHOLE // 2] + "\n" + text[-(WHOLE // 2) :]
    written = plain(text)
    short = written if len(written) <= HEAD + TAIL else written[:HEAD] + "\n" + written[-TAIL:]
    full = _lines(short)
    said = _unquoted(full)
    return ReplyText(
        said=said,
        whole=said if short is written else _unquoted(_lines(written)),
        full=full,
        empty=not cut and not any(sign.isalnum() for sign in written),
        cut=cut,
    )


def _lines(text: str) -> str:
    parts = (line.strip() for line in _STOPS.sub(r"\1\n", text).split("\n"))
    return "\n".join(part for part in parts if part)


def _unquoted(text: str) -> str:
    """Blank quotations, unless nearly all of the reply stands between quotation marks."""
    blanked = _QUOTED.sub(QUOTE, text)
    return text if len(blanked) < len(text) * 0.3 else blanked
