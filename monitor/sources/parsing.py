"""Raw records as they are: nothing in a record, its headers included, can break their reading."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from aiokafka import ConsumerRecord
from faststream.kafka import KafkaMessage
from faststream.message import StreamMessage

from monitor.sources.record import Record


class _NoAcknowledgement:
    """Commits are explicit and made elsewhere; nothing commits by way of a message."""

    async def commit(self) -> None:
        return

    def seek(self, partition: Any, offset: int) -> None:
        """Never: see above."""


_NOTHING = _NoAcknowledgement()


async def parse_batch(batch: tuple[ConsumerRecord[Any, Any], ...]) -> KafkaMessage:
    """Headers stay bytes: the framework would decode them, and answer to a ``reply_to``."""
    return KafkaMessage(raw_message=batch, body=b"", message_id="batch", correlation_id="", consumer=_NOTHING)


async def decode_batch(message: StreamMessage[Any]) -> Any:
    return message.raw_message


def convert_records(raw: Iterable[ConsumerRecord[Any, Any]]) -> tuple[Record, ...]:
    return tuple(
        Record(
            partition=(record.topic, record.partition),
            offset=record.offset,
            key=record.key,
            value=record.value,
            headers=tuple((name, value or b"") for name, value in record.headers),
            timestamp=_moment(record.timestamp),
        )
        for record in raw
    )


def _moment(milliseconds: int | None) -> datetime | None:
    if milliseconds is None or milliseconds < 0:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):  # a producer may set what it likes
        return None
