"""From raw records to turns by conversation (steps 2 and 3 of a batch's way); what cannot be read is set aside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from alerts.ports import Clock
from detectors.turn import Turn
from monitor.batch import Read
from monitor.crypto.pseudonym import Kind, Pseudonymiser
from monitor.decode.decoder import Decoder, attempt
from monitor.decode.rejection import Rejected
from monitor.sources.record import Record
from monitor.store.work import DeadLetter, Partition

DEAD_LETTER_BYTES = 1_048_576  # of a payload that is kept; its position leads to the whole


class Reader:
    def __init__(
        self,
        decoder: Decoder,
        pseudonymiser: Pseudonymiser,
        clock: Clock,
        marked: Callable[[Turn, Partition], Turn] = lambda turn, _: turn,
    ) -> None:
        """``marked`` gives a turn of the monitor's own canary its key (``CanaryMark``)."""
        self._decoder = decoder
        self._pseudonymiser = pseudonymiser
        self._clock = clock
        self._marked = marked

    def read(self, batch: Sequence[Record], positions: Mapping[Partition, int]) -> Read:
        """Decode each record by itself; those below their partition's position were processed before."""
        now = self._clock.now()
        turns: dict[str, list[Turn]] = {}
        partition_of: dict[str, Partition] = {}
        dead: list[DeadLetter] = []
        reached: dict[Partition, int] = {}
        good: list[bool] = []
        unknown = 0
        for record in batch:
            if record.offset < positions.get(record.partition, 0):
                continue
            reached[record.partition] = record.offset + 1
            outcome = attempt(
                self._decoder,
                record.value,
                now=now,
                pseudonymise=self._hide,
                sequence=record.offset,
            )
            good.append(not isinstance(outcome, Rejected))
            if isinstance(outcome, Rejected):
                dead.append(_dead_letter(record, outcome, now))
                continue
            unknown += outcome.unknown
            turn = self._marked(outcome.turn, record.partition)
            turns.setdefault(turn.conversation, []).append(turn)
            partition_of[turn.conversation] = record.partition
        return Read(turns, partition_of, dead, reached, good, unknown, now)

    def _hide(self, kind: str, raw: str) -> str:
        return self._pseudonymiser.pseudonym(Kind(kind), raw)


def _dead_letter(record: Record, rejected: Rejected, now: datetime) -> DeadLetter:
    payload = (record.value or b"")[:DEAD_LETTER_BYTES]
    return DeadLetter(record.partition, record.offset, rejected.reason.value, now, payload)
