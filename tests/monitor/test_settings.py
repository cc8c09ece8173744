"""Every wrong configuration gets one line that names the key and says what to do, and no secret shows."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from monitor.commands import describe_settings
from monitor.errors import ConfigurationError
from monitor.settings import environment_names, load

SECRET = "s3cret-canary"
KEY = base64.b64encode(b"k" * 32).decode()
CONSOLE = {"JIEZHU_PAGERS__CONSOLE": "true"}
WEBHOOK = {
    "JIEZHU_PAGERS__WEBHOOK__URL": f"https://pager.example/{SECRET}",
    "JIEZHU_PAGERS__WEBHOOK__SECRET": SECRET,
}


@dataclass
class Bad:
    """``says`` are words that the line must hold, the name of the key among them."""

    says: tuple[str, ...]
    environ: dict[str, str] = field(default_factory=dict)
    toml: str = ""
    pager: bool = True


BAD = {
    "unknown name": Bad(
        ("JIEZHU_KAFKA__TOPICS", "not a known setting", "--names"), {"JIEZHU_KAFKA__TOPICS": "t"}
    ),
    "one underscore too few": Bad(("JIEZHU_HTTP_PORT", "not a known setting"), {"JIEZHU_HTTP_PORT": "80"}),
    "unknown name in the file": Bad(
        ("JIEZHU_KAFKA__TOPICS", "not a known setting"), toml="[kafka]\ntopics = 't'"
    ),
    "unknown table": Bad(("JIEZHU_CAFKA", "not a known setting"), toml="[cafka]\ntopic = 't'"),
    "no number": Bad(("JIEZHU_HTTP__PORT", "integer"), {"JIEZHU_HTTP__PORT": "eighty"}),
    "wrong type in the file": Bad(("JIEZHU_KAFKA__TOPIC", "string"), toml="[kafka]\ntopic = 5"),
    "out of range": Bad(("JIEZHU_HTTP__PORT", "65535"), {"JIEZHU_HTTP__PORT": "70000"}),
    "no time for the database": Bad(
        ("JIEZHU_DATABASE__TIMEOUT_SECONDS", "0.5"), {"JIEZHU_DATABASE__TIMEOUT_SECONDS": "0"}
    ),
    "a day for the database": Bad(
        ("JIEZHU_DATABASE__TIMEOUT_SECONDS", "60"), toml="[database]\ntimeout_seconds = 86400"
    ),
    "no finite time": Bad(("JIEZHU_WATCHING__GRACE_SECONDS",), {"JIEZHU_WATCHING__GRACE_SECONDS": "nan"}),
    "no such choice": Bad(("JIEZHU_LOG__LEVEL", "'debug'"), {"JIEZHU_LOG__LEVEL": "loud"}),
    "not JSON": Bad(("JIEZHU_ESCALATION__STEPS", "JSON"), {"JIEZHU_ESCALATION__STEPS": "anna"}),
    "list of the wrong things": Bad(
        ("JIEZHU_ESCALATION__STEPS", "0.targets"), {"JIEZHU_ESCALATION__STEPS": '[{"targets": []}]'}
    ),
    "a list that is none": Bad(
        ("JIEZHU_PAGERS__APPRISE__URLS", "JSON"), {"JIEZHU_PAGERS__APPRISE__URLS": f"json://{SECRET}"}
    ),
    "a time that is none": Bad(
        ("JIEZHU_PAGERS__WEBHOOK__TIME_LIMIT", "timedelta"),
        WEBHOOK | {"JIEZHU_PAGERS__WEBHOOK__TIME_LIMIT": "nan"},
    ),
    "a secret and its file": Bad(
        ("JIEZHU_KEYS__SEAL_FILE", "JIEZHU_KEYS__SEAL are both set"),
        {"JIEZHU_KEYS__SEAL": f"a:{SECRET}", "JIEZHU_KEYS__SEAL_FILE": "/etc/hostname"},
    ),
    "missing secret file": Bad(
        ("JIEZHU_KEYS__SEAL_FILE", "cannot be read"), {"JIEZHU_KEYS__SEAL_FILE": "/nowhere/at/all"}
    ),
    "file of what is no secret": Bad(
        ("JIEZHU_KAFKA__TOPIC_FILE", "not a known setting"), {"JIEZHU_KAFKA__TOPIC_FILE": "/etc/hostname"}
    ),
    "bad TOML": Bad(("--config", "is not TOML", "line 1"), toml=f"kafka = = '{SECRET}'"),
    "TOML that ends too soon": Bad(("--config", "end of document"), toml="kafka = ["),
    "a file that does not fit the environment": Bad(
        ("JIEZHU_KAFKA__TOPIC", "kafka is no table"), {"JIEZHU_KAFKA__TOPIC": "t"}, toml="kafka = 3"
    ),
    # R67: it does not start as a monitor that can call nobody
    "no pager at all": Bad(("JIEZHU_PAGERS", "no pager is configured"), pager=False),
    "a pager without its secret": Bad(
        ("JIEZHU_PAGERS__WEBHOOK__SECRET", "missing"), {"JIEZHU_PAGERS__WEBHOOK__URL": "https://a.example"}
    ),
    "a secret that was never filled": Bad(
        ("JIEZHU_PAGERS__PAGERDUTY__ROUTING_KEY", "empty"), {"JIEZHU_PAGERS__PAGERDUTY__ROUTING_KEY": " "}
    ),
    "a pager with an empty secret": Bad(
        ("JIEZHU_PAGERS__WEBHOOK__SECRET", "empty"), WEBHOOK | {"JIEZHU_PAGERS__WEBHOOK__SECRET": ""}
    ),
    "an empty token": Bad(
        ("JIEZHU_PAGERS__ALERTMANAGER__TOKEN", "empty"),
        {
            "JIEZHU_PAGERS__ALERTMANAGER__URL": f"https://{SECRET}.example",
            "JIEZHU_PAGERS__ALERTMANAGER__TOKEN": "",
        },
    ),
    "a URL without scheme": Bad(
        ("JIEZHU_PAGERS__WEBHOOK__URL", "http://"),
        WEBHOOK | {"JIEZHU_PAGERS__WEBHOOK__URL": f"a.example/{SECRET}"},
    ),
    "a URL without host": Bad(
        ("JIEZHU_PAGERS__WEBHOOK__URL", "host"),
        WEBHOOK | {"JIEZHU_PAGERS__WEBHOOK__URL": f"https:///{SECRET}"},
    ),
    "a public address without scheme": Bad(
        ("JIEZHU_HTTP__PUBLIC_URL", "http://"), {"JIEZHU_HTTP__PUBLIC_URL": "jiezhu.example"}
    ),
    "a runbook without scheme": Bad(("JIEZHU_HTTP__RUNBOOK_URL",), {"JIEZHU_HTTP__RUNBOOK_URL": "/runbooks"}),
    "two pagers of one name": Bad(
        ("JIEZHU_PAGERS", "two pagers are named webhook"),
        WEBHOOK
        | {
            "JIEZHU_PAGERS__NAMED": json.dumps(
                {"webhook": {"kind": "webhook", "url": "https://b.example", "secret": SECRET}}
            )
        },
    ),
    "a named pager of no kind": Bad(
        ("JIEZHU_PAGERS__NAMED", "kind"), {"JIEZHU_PAGERS__NAMED": '{"anna": {"kind": "pigeon"}}'}
    ),
    "a named pager with a bad URL": Bad(
        ("JIEZHU_PAGERS__NAMED", "anna.webhook.url"),
        {"JIEZHU_PAGERS__NAMED": json.dumps({"anna": {"kind": "webhook", "url": SECRET, "secret": SECRET}})},
    ),
    "unknown target": Bad(
        ("JIEZHU_ESCALATION__STEPS", "anna", "have console"),
        {"JIEZHU_ESCALATION__STEPS": '[{"targets": ["anna"]}]'},
    ),
    "unknown place for tickets": Bad(
        ("JIEZHU_ESCALATION__TICKETS", "mail"), {"JIEZHU_ESCALATION__TICKETS": '["mail"]'}
    ),
    "a person without a pager": Bad(
        ("JIEZHU_ESCALATION__PEOPLE", "anna has no pager"), {"JIEZHU_ESCALATION__PEOPLE": '{"anna": []}'}
    ),
    "a person with an unknown pager": Bad(
        ("JIEZHU_ESCALATION__PEOPLE", "sms is not a configured pager"),
        {"JIEZHU_ESCALATION__PEOPLE": '{"anna": ["sms"]}'},
    ),
    "a person who is called like a pager": Bad(
        ("JIEZHU_ESCALATION__PEOPLE", "console"), {"JIEZHU_ESCALATION__PEOPLE": '{"console": ["console"]}'}
    ),
    "a key that is too short": Bad(
        ("JIEZHU_KEYS__PSEUDONYM", "32 bytes", "openssl"),
        {"JIEZHU_KEYS__PSEUDONYM": SECRET, "JIEZHU_KEYS__SEAL": f"a:{KEY}"},
    ),
    "a key to seal with that is too short": Bad(
        ("JIEZHU_KEYS__SEAL", "32 bytes"), {"JIEZHU_KEYS__PSEUDONYM": KEY, "JIEZHU_KEYS__SEAL": f"a:{SECRET}"}
    ),
    "one key without the other": Bad(
        ("JIEZHU_KEYS__SEAL", "missing", "openssl"), {"JIEZHU_KEYS__PSEUDONYM": KEY}
    ),
    "a database for many without keys": Bad(
        ("JIEZHU_KEYS__PSEUDONYM", "missing"), {"JIEZHU_DATABASE__URL": f"postgresql://u:{SECRET}@h/d"}
    ),
    "another database": Bad(
        ("JIEZHU_DATABASE__URL", "sqlite and postgresql"), {"JIEZHU_DATABASE__URL": f"mysql://u:{SECRET}@h/d"}
    ),
    "no database URL": Bad(("JIEZHU_DATABASE__URL", "sqlite:///"), {"JIEZHU_DATABASE__URL": SECRET}),
    "an empty database URL": Bad(("JIEZHU_DATABASE__URL",), {"JIEZHU_DATABASE__URL": ""}),
    "credentials without a name": Bad(
        ("JIEZHU_KAFKA__SASL_USERNAME", "missing"),
        {"JIEZHU_KAFKA__SECURITY_PROTOCOL": "SASL_SSL", "JIEZHU_KAFKA__SASL_PASSWORD": SECRET},
    ),
    "a certificate that is not there": Bad(
        ("JIEZHU_KAFKA__SSL_CA_FILE", "no file"), {"JIEZHU_KAFKA__SSL_CA_FILE": "/nowhere/at/all.pem"}
    ),
    "a certificate that is none": Bad(
        ("JIEZHU_KAFKA__SSL_CA_FILE", "PEM"),
        {"JIEZHU_KAFKA__SECURITY_PROTOCOL": "SSL", "JIEZHU_KAFKA__SSL_CA_FILE": __file__},
    ),
    "no broker": Bad(
        ("JIEZHU_KAFKA__BOOTSTRAP_SERVERS", "host:port"), {"JIEZHU_KAFKA__BOOTSTRAP_SERVERS": ""}
    ),
    "a broker with a scheme": Bad(
        ("JIEZHU_KAFKA__BOOTSTRAP_SERVERS", "host:port"),
        {"JIEZHU_KAFKA__BOOTSTRAP_SERVERS": "kafka://k:9092"},
    ),
    "a broker with a wrong port": Bad(
        ("JIEZHU_KAFKA__BOOTSTRAP_SERVERS", "host:port"), {"JIEZHU_KAFKA__BOOTSTRAP_SERVERS": "a:9092,b:90x"}
    ),
    # Turns would travel in the clear, though somebody has seen to it that they do not.
    "credentials that nobody would be shown": Bad(
        ("JIEZHU_KAFKA__SASL_USERNAME", "JIEZHU_KAFKA__SECURITY_PROTOCOL", "PLAINTEXT"),
        {"JIEZHU_KAFKA__SASL_USERNAME": "u", "JIEZHU_KAFKA__SASL_PASSWORD": SECRET},
    ),
    "a certificate that nobody would be asked for": Bad(
        ("JIEZHU_KAFKA__SSL_CA_FILE", "PLAINTEXT"), {"JIEZHU_KAFKA__SSL_CA_FILE": __file__}
    ),
    "a key of canaries that is too short": Bad(
        ("JIEZHU_KEYS__CANARY", "32 bytes"), {"JIEZHU_KEYS__CANARY": SECRET}
    ),
    "dead letters to where turns are read": Bad(
        ("JIEZHU_KAFKA__DEAD_LETTER_TOPIC", "another"), {"JIEZHU_KAFKA__DEAD_LETTER_TOPIC": "turns"}
    ),
}


def complaint(bad: Bad, directory: Path) -> str:
    config = None
    if bad.toml:
        config = directory / "jiezhu.toml"
        config.write_text(bad.toml)
    environ = (CONSOLE if bad.pager else {}) | bad.environ | {"JIEZHU_STATE_DIR": str(directory)}
    with pytest.raises(ConfigurationError) as raised:
        describe_settings(load(config, environ))
    return str(raised.value)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_says_in_one_line_what_is_wrong(bad, tmp_path):
    line = complaint(bad, tmp_path)
    assert "\n" not in line
    assert line.startswith(bad.says[0]), line
    for word in bad.says[1:]:
        assert word in line
    assert SECRET not in line


@pytest.mark.parametrize("name", ["unknown name", "no pager at all", "a key that is too short"])
def test_the_command_line_ends_with_status_2(name, tmp_path):
    bad = BAD[name]
    ended = run(tmp_path, (CONSOLE if bad.pager else {}) | bad.environ)
    assert ended.returncode == 2
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith(f"jiezhu: {bad.says[0]}: ")
    assert SECRET not in line


def test_a_good_configuration_is_put_into_words_without_its_secrets(tmp_path):
    ended = run(tmp_path, WEBHOOK | CONSOLE)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "channels, in order: webhook, console" in ended.stdout
    assert SECRET not in ended.stdout


def run(directory: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("JIEZHU_")}
    return subprocess.run(
        [sys.executable, "-m", "monitor", "check-config"],
        env=plain | environ | {"JIEZHU_STATE_DIR": str(directory), "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_no_secret_shows_in_a_repr(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    settings = load(
        None,
        WEBHOOK
        | {
            "JIEZHU_DATABASE__URL": f"postgresql://u:{SECRET}@h/d",
            "JIEZHU_KAFKA__SECURITY_PROTOCOL": "SASL_SSL",
            "JIEZHU_KAFKA__SASL_USERNAME": "u",
            "JIEZHU_KAFKA__SASL_PASSWORD_FILE": str(secret),
            "JIEZHU_KEYS__PSEUDONYM": SECRET,
        },
    )
    assert settings.kafka.sasl_password.get_secret_value() == SECRET
    assert SECRET not in repr(settings)
    assert SECRET not in settings.model_dump_json()


def test_the_environment_stands_above_the_file(tmp_path):
    config = tmp_path / "jiezhu.toml"
    config.write_text("[kafka]\ntopic = 'file'\ngroup_id = 'file'")
    settings = load(config, {"JIEZHU_KAFKA__TOPIC": "environment"})
    assert (settings.kafka.topic, settings.kafka.group_id) == ("environment", "file")


@pytest.mark.parametrize("name", sorted(environment_names() - {"JIEZHU_CACHE_DIR"}))
def test_every_name_that_is_listed_is_understood(name, tmp_path):
    value = tmp_path / "value"
    value.write_text("0")
    try:
        load(None, {name: str(value)})
    except ConfigurationError as error:
        complaint = str(error)
    else:
        complaint = ""
    assert "not a known setting" not in complaint


def test_what_kubernetes_says_of_a_service_is_not_ours():
    load(
        None,
        {
            "JIEZHU_SERVICE_HOST": "10.0.0.1",
            "JIEZHU_SERVICE_PORT": "9464",
            "JIEZHU_SERVICE_PORT_METRICS": "9464",
            "JIEZHU_PORT": "tcp://10.0.0.1:9464",
            "JIEZHU_PORT_9464_TCP": "tcp://10.0.0.1:9464",
            "JIEZHU_PORT_9464_TCP_ADDR": "10.0.0.1",
            "JIEZHU_POSTGRES_PORT": "tcp://10.0.0.2:5432",
        },
    )


def test_the_default_is_to_page_the_first_channel_again_and_again(tmp_path):
    """R67."""
    said = "\n".join(describe_settings(load(None, CONSOLE | {"JIEZHU_STATE_DIR": str(tmp_path)})))
    assert "escalates: console (then 300 s), again and again until somebody acknowledges" in said


def test_rates_of_all_workers_are_published_unless_somebody_says_otherwise(tmp_path):
    environ = CONSOLE | {"JIEZHU_STATE_DIR": str(tmp_path)}
    given = {"JIEZHU_PUBLISHING__PERIOD_SECONDS": "30", "JIEZHU_PUBLISHING__WINDOW_HOURS": "12"}
    said = "\n".join(describe_settings(load(None, environ | given)))
    assert "one worker publishes rates of all, over 12 h, every 30 s" in said
    said = "\n".join(describe_settings(load(None, environ | {"JIEZHU_PUBLISHING__ENABLED": "false"})))
    assert "publishes no rates" in said


def test_a_second_channel_is_set_by_the_environment_or_by_a_file(tmp_path):
    """A list of services, each of which holds its credentials."""
    services = tmp_path / "services"
    services.write_text(f'["json://localhost/{SECRET}"]\n')
    key = "JIEZHU_PAGERS__APPRISE__URLS"
    for environ in ({key: services.read_text()}, {f"{key}_FILE": str(services)}):
        (url,) = load(None, environ).pagers.apprise.urls
        assert url.get_secret_value() == f"json://localhost/{SECRET}"


def test_what_a_pager_takes_beside_text_is_read_from_the_environment():
    settings = load(
        None,
        WEBHOOK
        | {"JIEZHU_PAGERS__WEBHOOK__ACCEPTED": "[200, 201]", "JIEZHU_PAGERS__WEBHOOK__TIME_LIMIT": "2.5"},
    )
    assert settings.pagers.webhook.accepted == {200, 201}
    assert settings.pagers.webhook.time_limit == timedelta(seconds=2.5)


def test_where_a_second_opinion_is_asked_may_be_a_file(tmp_path):
    """The address is a secret, too: its setting is checked beside, and may be left out."""
    address = tmp_path / "address"
    address.write_text(f"https://llm.example/{SECRET}\n")
    settings = load(None, {"JIEZHU_SECOND_OPINION__URL_FILE": str(address)})
    assert settings.second_opinion.url.get_secret_value() == f"https://llm.example/{SECRET}"


@pytest.mark.parametrize("servers", ["kafka", "a_b.c-d:9092, 10.0.0.1:9092", "[::1]:9092,[fe80::1]"])
def test_brokers_as_they_are_written(servers):
    assert load(None, {"JIEZHU_KAFKA__BOOTSTRAP_SERVERS": servers}).kafka.bootstrap_servers == servers


def test_that_replies_leave_this_machine_is_said(tmp_path):
    environ = CONSOLE | {"JIEZHU_STATE_DIR": str(tmp_path)}
    asked = {
        "JIEZHU_SECOND_OPINION__URL": f"https://llm.example/{SECRET}",
        "JIEZHU_SECOND_OPINION__SHARE": "0.05",
    }
    assert "language model" not in "\n".join(describe_settings(load(None, environ)))
    said = "\n".join(describe_settings(load(None, environ | asked)))
    assert (
        "send replies to a language model elsewhere: all on which our own judge is in doubt and 5% of" in said
    )
    assert SECRET not in said
