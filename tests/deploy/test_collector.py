"""The Collector's example: what its exporter would write is an event that the decoder reads.

No Collector runs here. Its rewriting is one map of paths, played below as its documents tell: a path that leads nowhere gives null,
numbers stay numbers, and the exporter's ``raw`` encoding writes a body that is a map as a JSON object.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from detectors.turn import Role, Track
from monitor.decode import Decoded, Reason, Rejected, attempt
from monitor.decode.event import FIELDS
from monitor.decode.native import NativeDecoder
from tests.deploy.manifests import DEPLOY
from tests.support.prometheus import RULES

FILE = DEPLOY / "opentelemetry" / "collector.yaml"
CONFIG: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SAID = datetime(2026, 3, 1, 3, 0, 0, 120_000, UTC)
ENTRY = re.compile(r'"(\w+)": (.+?)(?:, (?=")| ?\}\))')
ATTRIBUTE = re.compile(r'(log|resource)\.attributes\["([\w.]+)"\]')


def a_record(**changes: Any) -> dict[str, Any]:
    """A log record as the file's head asks an app for it."""
    return {
        "event_name": "jiezhu.turn",
        "body": "I have slept badly, and 今天 was long",
        "time_unix_nano": int(SAID.timestamp() * 1000) * 1_000_000,
        "attributes": {
            "gen_ai.conversation.id": "c-7",
            "log.record.uid": "e-81",
            "jiezhu.role": "user",
            "enduser.pseudo.id": "u-3",
            "jiezhu.track": "canary",
            "jiezhu.lang": "en",
        },
        "resource": {"service.name": "night-app", "service.version": "companion-1.4"},
        **changes,
    }


def rewriting() -> dict[str, str]:
    """The event's fields and the paths that they are made from."""
    statements = CONFIG["processors"]["transform/event"]["log_statements"]
    (body,) = [statement for statement in statements if statement.startswith("set(log.body, {")]
    return dict(ENTRY.findall(body))


def evaluated(path: str, record: dict[str, Any]) -> Any:
    if attribute := ATTRIBUTE.fullmatch(path):
        holder = record["attributes"] if attribute[1] == "log" else record["resource"]
        return holder.get(attribute[2])
    if path == "log.time_unix_nano / 1000000":
        return record["time_unix_nano"] // 1_000_000
    assert path == "log.body.string"
    return record["body"]


def written(record: dict[str, Any]) -> bytes:
    event = {field: evaluated(path, record) for field, path in rewriting().items()}
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def decode(record: dict[str, Any]) -> Decoded | Rejected:
    return attempt(
        NativeDecoder(),
        written(record),
        now=SAID + timedelta(seconds=2),
        pseudonymise=lambda kind, raw: f"{kind}<{raw}>",
        sequence=0,
    )


def test_what_is_written_is_read() -> None:
    decoded = decode(a_record())
    assert isinstance(decoded, Decoded), decoded
    turn = decoded.turn
    assert (decoded.unknown, decoded.repaired) == (0, 0)
    assert (turn.event, turn.conversation, turn.user) == ("event<e-81>", "conversation<c-7>", "user<u-3>")
    assert (turn.role, turn.text, turn.at) == (Role.USER, a_record()["body"], SAID)
    assert (turn.app, turn.release, turn.track) == ("night-app", "companion-1.4", Track.CANARY)
    assert (turn.lang, turn.region) == ("en", None)


def test_an_app_may_tell_no_more_than_it_must() -> None:
    least = {"gen_ai.conversation.id": "c-7", "log.record.uid": "e-82", "jiezhu.role": "assistant"}
    decoded = decode(a_record(attributes=least, resource={}))
    assert isinstance(decoded, Decoded), decoded
    assert (decoded.turn.track, decoded.turn.release) == (Track.PRODUCTION, "unknown")


@pytest.mark.parametrize("name", ["gen_ai.conversation.id", "log.record.uid", "jiezhu.role"])
def test_what_it_must_tell_is_missed(name: str) -> None:
    whole = a_record()["attributes"]
    refused = decode(a_record(attributes={key: value for key, value in whole.items() if key != name}))
    assert isinstance(refused, Rejected)
    assert refused.reason is Reason.WRONG_TYPE  # null


def test_only_fields_of_the_event_are_made_and_the_head_tells_of_each_attribute() -> None:
    fields = rewriting()
    assert {"event_id", "conversation_id", "role", "text", "at"} <= set(fields) <= FIELDS
    head = FILE.read_text(encoding="utf-8").partition("extensions:")[0]
    named = {attribute[1] for path in fields.values() for attribute in ATTRIBUTE.findall(path)}
    assert not [name for name in named if name not in head]
    (left_out,) = CONFIG["processors"]["filter/turns"]["logs"]["log_record"]
    assert left_out == f'log.event_name != "{a_record()["event_name"]}"'


def test_a_conversation_stays_in_one_partition_and_in_order() -> None:
    conversation = "gen_ai.conversation.id"
    assert CONFIG["processors"]["groupbyattrs"]["keys"] == [conversation]
    (kept,) = CONFIG["processors"]["transform/key"]["log_statements"]
    assert kept == f'keep_keys(resource.attributes, ["{conversation}"])'
    order = CONFIG["service"]["pipelines"]["logs/turns"]["processors"]
    # The rewriting needs the attributes that grouping takes away.
    assert order[-3:] == ["transform/event", "groupbyattrs", "transform/key"]
    kafka = CONFIG["exporters"]["kafka"]
    assert kafka["partition_logs_by_resource_attributes"] is True
    assert kafka["logs"]["encoding"] == "raw"
    assert kafka["sending_queue"]["num_consumers"] == 1


def test_nothing_is_given_up_while_the_broker_is_away() -> None:
    kafka = CONFIG["exporters"]["kafka"]
    assert kafka["retry_on_failure"]["max_elapsed_time"] == 0
    assert kafka["producer"]["required_acks"] == -1
    assert kafka["sending_queue"]["storage"] in CONFIG["service"]["extensions"]
    processors = CONFIG["processors"]
    assert {one["error_mode"] for one in processors.values() if one and "error_mode" in one} == {"propagate"}


def test_workers_are_scraped_under_the_job_that_alerts_ask_for() -> None:
    (scrape,) = CONFIG["receivers"]["prometheus"]["config"]["scrape_configs"]
    jobs = {
        job for file in RULES.glob("*.yml") for job in re.findall(r'job="(\w+)"', file.read_text("utf-8"))
    }
    assert jobs == {scrape["job_name"]}
    assert scrape.get("metrics_path", "/metrics") == "/metrics"
    assert CONFIG["exporters"]["prometheusremotewrite"]["add_metric_suffixes"] is False


def test_every_part_is_there_and_used() -> None:
    service = CONFIG["service"]
    for kind in ("receivers", "processors", "exporters"):
        used = {name for pipeline in service["pipelines"].values() for name in pipeline[kind]}
        assert used == set(CONFIG[kind]), kind
    assert set(service["extensions"]) == set(CONFIG["extensions"])


def test_it_holds_no_secret_and_shows_nobody_what_was_said() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert not {"debug", "logging", "file"} & {name.split("/")[0] for name in CONFIG["exporters"]}
    for line in text.splitlines():
        if re.search(r"password|token|secret|api_?key", line, re.IGNORECASE):
            assert "${file:" in line, line
    assert all(address.startswith("127.0.0.1:") for address in re.findall(r"endpoint: ([\d.:]+)", text))
