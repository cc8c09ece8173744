"""Records that the client library itself cannot read, such as one whose header name is not UTF-8.

The library fails on such a record each time it comes to it, so its partition would stand still for ever. A
partition that stands still though the broker answers is looked at apart, record by record; the one at fault is
handed on without its content, and so becomes a dead letter with its place on record.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError
from faststream.kafka.security import parse_security

from monitor.sources.progress import Progress
from monitor.sources.security import build_security
from monitor.sources.settings import KafkaSettings
from monitor.store.work import Partition

STILL = timedelta(seconds=5)
FRESH = timedelta(seconds=2)
LOOK_MS = 3_000


class StandstillWatch:
    """Which partitions have records, an answering broker, and yet the same position for STILL."""

    def __init__(self) -> None:
        self._since: dict[Partition, tuple[int, datetime]] = {}

    def observe(self, progress: Progress, now: datetime) -> list[Partition]:
        still = []
        for partition, known in progress.partitions.items():
            answering = known.polled is not None and now - known.polled <= FRESH
            position, since = self._since.get(partition, (-1, now))
            if known.held or not known.lag or not answering or progress.handling_since is not None:
                self._since.pop(partition, None)
            elif position != known.position:
                self._since[partition] = (known.position, now)
            elif now - since >= STILL:
                still.append(partition)
                self._since[partition] = (position, now)
        return still


async def find_unreadable(settings: KafkaSettings, partition: Partition, offset: int) -> int | None:
    """Offset of the next record from ``offset`` on, if the library cannot read it. Raises KafkaError."""
    place = TopicPartition(*partition)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=settings.bootstrap_servers,
        client_id=settings.client_id,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_partition_fetch_bytes=settings.max_partition_bytes,
        **parse_security(build_security(settings)),
    )
    try:
        await consumer.start()
        consumer.assign([place])
        consumer.seek(place, offset)
        try:
            await consumer.getmany(timeout_ms=LOOK_MS, max_records=1)
        except KafkaError:
            raise
        except Exception:  # noqa: BLE001 - whatever the library stumbles on
            return int(await consumer.position(place))
        return None
    finally:
        await consumer.stop()


def stand_in(partition: Partition, offset: int) -> ConsumerRecord[None, None]:
    """The place of a record without its content."""
    return ConsumerRecord(
        topic=partition[0],
        partition=partition[1],
        offset=offset,
        timestamp=-1,
        timestamp_type=0,
        key=None,
        value=None,
        checksum=None,
        serialized_key_size=-1,
        serialized_value_size=-1,
        headers=(),
    )
