"""Records of style into the sketch of an hour. The elected worker does it, in a thread."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import structlog

from detectors.drift import packing
from detectors.drift.sketch import Reply, StyleSketch
from detectors.drift.stratum import stratum_of
from detectors.drift.style import unpack as style_of
from detectors.drift.trace import trace_of
from detectors.finding import Level, UserSignal
from monitor.tally.cell import Style

if TYPE_CHECKING:
    from detectors.crisis.model import Model

_log = structlog.get_logger(__name__)

BEFORE: Final = 8  # replies of a conversation that are at hand, to learn from how alike they are
CONVERSATIONS: Final = (
    2_000  # that are remembered so: of the half hour that goes by, at fifteen turns a second
)
OPEN: Final = 16  # sketches held unpacked: a handful of rows is written to at a time
_MARK_BYTES: Final = 8
_LEVELS: Final = {level.value: level for level in Level}


class Folding:
    """A ``monitor.tally.hours.FoldStyle``. Not for two threads at once.

    What it keeps has marks under a secret that this process made and nobody else ever sees: of what stands in an hour's
    sketch nobody can tell whose it was, not even with all keys and all pseudonyms at hand.
    """

    def __init__(self, model: Model | None = None) -> None:
        self._given = model
        self._secret = secrets.token_bytes(32)
        self._open: OrderedDict[bytes, StyleSketch] = OrderedDict()
        self._said: OrderedDict[int, list[Reply]] = OrderedDict()

    def __call__(self, stood: bytes | None, styles: Sequence[Style]) -> bytes:
        sketch = self._sketch(stood)
        model = self._model.mark.hex()
        if not sketch.model:
            sketch.model = model
        for style in styles:
            reply = self._reply(style)
            if reply is None:
                continue
            if sketch.model != model:  # in an upgrade, of another model: its numbers mean something else
                reply = replace(reply, trace=b"")
            sketch.add(reply, self._before(reply), style.earlier)
        packed = packing.pack(sketch)
        self._open[packed] = sketch
        while len(self._open) > OPEN:
            self._open.popitem(last=False)
        return packed

    @property
    def _model(self) -> Model:
        if self._given is None:
            from detectors.crisis.model import load_model  # noqa: PLC0415 - only the elected one needs it here

            self._given = load_model()
        return self._given

    def _sketch(self, stood: bytes | None) -> StyleSketch:
        """Ours to change. One that we made last is not unpacked again; if its row was not written, nor asked for, it goes."""
        if stood is None:
            return StyleSketch()
        held = self._open.pop(stood, None)
        if held is not None:
            return held
        try:
            return packing.unpack(stood)
        except packing.SketchError as error:
            _log.error("hour_of_styles_lost", problem=str(error))
            return StyleSketch()

    def _reply(self, style: Style) -> Reply | None:
        """None for what a release of another reading wrote."""
        read, level = style_of(style.style), _LEVELS.get(style.level)
        if read is None or level is None:
            return None
        from detectors.crisis.memory import unpack as memory_of  # noqa: PLC0415 - as the model

        memory = memory_of(style.memory, self._model)
        answered = UserSignal(level, 0.0, style.distress)
        return Reply(
            stratum_of(answered, style.lang),
            read,
            self._hidden(style.conversation),
            self._hidden(style.mark),
            style.phrases,
            b"" if memory is None else trace_of(memory.trace),
        )

    def _before(self, reply: Reply) -> Sequence[Reply]:
        """The replies of its conversation that came before it. One that was added up in vain comes again: it is known by its mark."""
        said = self._said.setdefault(reply.conversation, [])
        self._said.move_to_end(reply.conversation)
        while len(self._said) > CONVERSATIONS:
            self._said.popitem(last=False)
        marks = [one.mark for one in said]
        if reply.mark in marks:
            return said[: marks.index(reply.mark)]
        before = tuple(said)
        said.append(reply)
        del said[:-BEFORE]
        return before

    def _hidden(self, mark: int) -> int:
        whole = mark.to_bytes(_MARK_BYTES, "big")
        digest = hashlib.blake2b(whole, key=self._secret, digest_size=_MARK_BYTES).digest()
        return int.from_bytes(digest, "big")
