"""What the Kafka source needs to be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
SaslMechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    """Times are in milliseconds where Kafka names them so, else in seconds.

    A record waits at most ``linger_ms`` in the broker, until ``linger_bytes`` have come together, and at most
    twice ``poll_ms`` in the client; that is the price of batches.
    """

    bootstrap_servers: str = "127.0.0.1:9092"  # host:port, more of them with commas
    topic: str = "conversation-turns"
    group_id: str = "jiezhu"
    dead_letter_topic: str = ""  # empty: the topic's name and ".dead"
    client_id: str = "jiezhu"

    security_protocol: SecurityProtocol = "PLAINTEXT"
    sasl_mechanism: SaslMechanism = "PLAIN"
    sasl_username: str = ""
    sasl_password: str = field(default="", repr=False)
    ssl_ca_file: str = ""  # empty: the system's
    ssl_cert_file: str = ""
    ssl_key_file: str = ""
    ssl_key_password: str = field(default="", repr=False)

    batch_max_records: int = 64
    linger_ms: int = 20
    linger_bytes: int = 64 * 1024
    poll_ms: int = 5
    # About a batch. The client empties what it holds of one partition before it comes to the next, so more would
    # make everybody in the others wait behind a backlog. A larger record comes all the same, alone.
    max_partition_bytes: int = 64 * 1024
    max_fetch_bytes: int = 256 * 1024

    session_timeout_ms: int = 20_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 30_000  # a batch in hand must be done by then
    request_timeout_ms: int = 40_000
    max_poll_interval_ms: int = 300_000

    commit_seconds: float = 5.0  # offsets are for lag only: no batch waits longer for them
    stop_seconds: float = 15.0  # for the batch in hand
    first_retry_seconds: float = 0.2
    longest_retry_seconds: float = 30.0
    longest_reconnect_seconds: float = 5.0  # a broker that is back is read again well within half a minute
    restart_after_seconds: float = 90.0  # of silence from the broker: build the client anew

    @property
    def dead_letters(self) -> str:
        return self.dead_letter_topic or f"{self.topic}.dead"
