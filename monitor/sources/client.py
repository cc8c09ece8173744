"""The faststream application: one batch subscriber, acknowledged by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord
from faststream import AckPolicy
from faststream.kafka import KafkaBroker
from pydantic import SkipValidation

from monitor.decode.event import Event
from monitor.sources.parsing import decode_batch, parse_batch
from monitor.sources.security import build_security
from monitor.sources.settings import KafkaSettings

MAX_REQUEST_BYTES = 4 * 1024 * 1024  # a sealed dead letter is a little larger than its record


@dataclass(frozen=True, slots=True)
class Client:
    broker: KafkaBroker
    consumer: Callable[[], AIOKafkaConsumer | None]


def build_client(
    settings: KafkaSettings,
    receive: Callable[[Sequence[ConsumerRecord[Any, Any]]], Awaitable[None]],
    listener: ConsumerRebalanceListener | None = None,
) -> Client:
    """Connects to nothing yet. Raises ConfigurationError.

    The framework gets no logger: it writes exceptions as they are, and those may hold a record's words (R65).
    """
    broker = KafkaBroker(
        settings.bootstrap_servers,
        client_id=settings.client_id,
        request_timeout_ms=settings.request_timeout_ms,
        max_request_size=MAX_REQUEST_BYTES,
        acks="all",
        graceful_timeout=settings.stop_seconds,
        allow_auto_create_topics=False,
        security=build_security(settings),
        logger=None,
    )
    subscriber = broker.subscriber(
        settings.topic,
        batch=True,
        group_id=settings.group_id,
        auto_offset_reset="earliest",
        ack_policy=AckPolicy.MANUAL,
        no_reply=True,
        parser=parse_batch,
        decoder=decode_batch,
        max_records=settings.batch_max_records,
        batch_timeout_ms=settings.poll_ms,
        fetch_min_bytes=settings.linger_bytes,
        fetch_max_wait_ms=settings.linger_ms,
        max_partition_fetch_bytes=settings.max_partition_bytes,
        fetch_max_bytes=settings.max_fetch_bytes,
        session_timeout_ms=settings.session_timeout_ms,
        heartbeat_interval_ms=settings.heartbeat_interval_ms,
        rebalance_timeout_ms=settings.rebalance_timeout_ms,
        max_poll_interval_ms=settings.max_poll_interval_ms,
        listener=listener,
        title="turns",
        description="Turns of conversations, one a record; the record's key is the conversation id.",
    )

    @subscriber
    async def read_turns(batch: SkipValidation[Event]) -> None:
        # the annotation is what the records should hold, for the AsyncAPI document; what comes is raw
        await receive(cast("Sequence[ConsumerRecord[Any, Any]]", batch))

    def consumer() -> AIOKafkaConsumer | None:
        return subscriber.consumer

    return Client(broker, consumer)
