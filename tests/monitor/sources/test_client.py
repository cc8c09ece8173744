from __future__ import annotations

import json
from typing import Any

import pytest

from monitor.decode.event import FIELDS
from monitor.errors import ConfigurationError
from monitor.sources.asyncapi import describe_html, describe_json
from monitor.sources.client import build_client
from monitor.sources.security import build_security
from monitor.sources.settings import KafkaSettings


async def receive(_batch: Any) -> None:
    return


def test_the_document_shows_the_topic_and_the_event() -> None:
    client = build_client(KafkaSettings(topic="chat"), receive)
    document = json.loads(describe_json(client))
    assert [channel["address"] for channel in document["channels"].values()] == ["chat"]
    (message,) = document["components"]["messages"].values()
    schema = document["components"]["schemas"][message["payload"]["$ref"].rpartition("/")[2]]
    assert schema["properties"].keys() == FIELDS
    assert "conversation_id" in schema["required"]
    assert "TurnEventV1" in describe_html(client)


def test_no_secret_in_a_repr_or_in_the_document() -> None:
    settings = KafkaSettings(security_protocol="SASL_SSL", sasl_username="u", sasl_password="geheim")
    assert "geheim" not in repr(settings) + describe_json(build_client(settings, receive))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_security_reaches_the_client(mechanism: Any) -> None:
    settings = KafkaSettings(
        security_protocol="SASL_SSL", sasl_mechanism=mechanism, sasl_username="u", sasl_password="p"
    )
    security = build_security(settings)
    assert security is not None
    assert security.use_ssl
    assert security.ssl_context is not None
    assert build_security(KafkaSettings()) is None


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (KafkaSettings(security_protocol="SASL_PLAINTEXT"), "kafka.sasl_username"),
        (KafkaSettings(security_protocol="SSL", ssl_ca_file="/does/not/exist"), "kafka.ssl_ca_file"),
        (KafkaSettings(security_protocol="SSL", ssl_cert_file="/does/not/exist"), "kafka.ssl_cert_file"),
    ],
)
def test_bad_security_names_its_key(settings: KafkaSettings, key: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        build_security(settings)
    assert caught.value.key == key


def test_dead_letters_have_a_topic_of_their_own() -> None:
    assert KafkaSettings(topic="chat").dead_letters == "chat.dead"
    assert KafkaSettings(topic="chat", dead_letter_topic="lost").dead_letters == "lost"
