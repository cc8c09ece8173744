"""Settings: one tree, from a TOML file and the environment (``JIEZHU_…``, ``__`` between levels).

Secrets may also come as files (``…_FILE``) and cannot print themselves. A name that is not known is an error:
a typing slip in a monitor must not mean silence.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from alerts.canary import CHANNEL
from alerts.pagers.alertmanager import AlertmanagerSettings
from alerts.pagers.pagerduty import PagerDutySettings
from alerts.pagers.second_channel import SecondChannelSettings
from alerts.pagers.webhook import WebhookSettings
from monitor.environment import PREFIX, key_of, names_of, put_environment
from monitor.errors import ConfigurationError
from monitor.second_opinion.settings import SecondOpinionSettings

_SERVER = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")  # of a broker
_Seconds = Annotated[float, Field(ge=0, le=86_400)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Kafka(_Section):
    bootstrap_servers: str = "localhost:9092"
    topic: str = Field("turns", min_length=1)
    group_id: str = Field("jiezhu", min_length=1)
    dead_letter_topic: str | None = None  # default: the topic's name with ".dead"
    batch_records: int = Field(128, ge=1, le=500)
    linger_ms: int = Field(20, ge=0, le=1000)
    session_timeout_ms: int = Field(20_000, ge=3_000, le=300_000)
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_ca_file: Path | None = None


class Database(_Section):
    url: SecretStr | None = None  # default: SQLite in the state directory
    timeout_seconds: float = Field(3, ge=0.5, le=60)  # of one call: with next to none, every one would fail


class Encoder(_Section):
    source: str = "offline"  # "offline", a directory, a wheel, or a hub id
    engine: Literal["int8", "fp32"] = "int8"
    threads: int = Field(1, ge=1, le=64)
    cache_dir: Path | None = None
    patience_seconds: float = Field(10, ge=1, le=60)  # without any work done, before it counts as hanging


class Keys(_Section):
    """32 bytes each, in base64 or hex. ``seal`` is a list ``id:key,id:key``: all open, the first seals.

    Without them a development key file is made in the state directory, for SQLite only.
    """

    pseudonym: SecretStr | None = None
    seal: SecretStr | None = None
    links: SecretStr | None = None
    canary: SecretStr | None = (
        None  # one for all monitors that read the topic; default: made from the pseudonyms'
    )


class NamedPagerDuty(PagerDutySettings):
    kind: Literal["pagerduty"]


class NamedAlertmanager(AlertmanagerSettings):
    kind: Literal["alertmanager"]


class NamedWebhook(WebhookSettings):
    kind: Literal["webhook"]


class NamedApprise(SecondChannelSettings):
    kind: Literal["apprise"]


NamedPager = Annotated[
    NamedPagerDuty | NamedAlertmanager | NamedWebhook | NamedApprise, Field(discriminator="kind")
]


class Pagers(_Section):
    """Channels, trusted in this order. ``named`` holds any number of further ones: people's own, other services."""

    pagerduty: PagerDutySettings | None = None
    webhook: WebhookSettings | None = None
    alertmanager: AlertmanagerSettings | None = None
    apprise: SecondChannelSettings | None = None
    named: dict[str, NamedPager] = {}
    console: bool = False


class EscalationStep(_Section):
    """Whom to tell (people or channels), and how long they have to acknowledge before the next step."""

    targets: list[str] = Field(min_length=1)
    after_seconds: float = Field(300, gt=0, le=86_400)


class Escalation(_Section):
    """Repeats from the first step until somebody acknowledges. Default: the first channel, every five minutes."""

    steps: list[EscalationStep] = []
    people: dict[str, list[str]] = {}
    tickets: list[str] = []


class Grouping(_Section):
    """What one channel is asked at most, and when one page tells of many incidents (``alerts.storm``).

    PagerDuty takes 120 events a minute of one service.
    """

    requests_per_minute: int = Field(100, ge=20, le=1_000_000)
    single_pages: int = Field(10, ge=1, le=1_000_000)  # of one release; one more each minute


class Watching(_Section):
    """Deadlines of a watch (see ARCHITECTURE)."""

    grace_seconds: _Seconds = 2.0
    reply_deadline_seconds: float = Field(60, gt=0, le=3600)
    imminent_reply_deadline_seconds: float = Field(30, gt=0, le=3600)
    quiet_minutes: float = Field(30, gt=0, le=1440)


class DeadLetters(_Section):
    in_a_row: int = Field(1000, ge=1)
    share: float = Field(0.2, gt=0, le=1)
    window: int = Field(10_000, ge=100)


class Http(_Section):
    host: str = "127.0.0.1"
    port: int = Field(9464, ge=0, le=65_535)
    public_url: str | None = None  # what a page links to
    runbook_url: str | None = None  # where deploy/runbooks stand; a page adds the file's name
    link_hours: float = Field(24, gt=0, le=720)


class Audit(_Section):
    """Records of incidents are held against each other; what is missing is found within this time, and pages."""

    period_seconds: float = Field(60, ge=4, le=3600)


class Canary(_Section):
    """A made-up crisis goes into the topic every so often, and its way to a test page is timed.

    Off by default: it writes into the topic of the app. ``pager`` names a configured channel that is kept for it
    and told of nobody else; without one the relay's word counts. ``heartbeat_url``: asked after each success.
    """

    enabled: bool = False
    every_seconds: int = Field(60, ge=10, le=3600)
    within_seconds: float = Field(30, ge=5, le=600)
    pager: str | None = None
    heartbeat_url: SecretStr | None = None


class Publishing(_Section):
    """One elected worker adds up what all have counted, and shows rates over the last ``window_hours`` on its /metrics.

    ``keep_days``: how long hours are kept. A release is compared with a week of its own past, the oldest that is kept.
    """

    enabled: bool = True
    period_seconds: float = Field(60, ge=5, le=3600)
    window_hours: int = Field(24, ge=1, le=168)
    keep_days: float = Field(35, ge=15, le=400)


class Retention(_Section):
    """``days``: words. ``records_days``: cases, incidents, findings, pages and the trail, none of which has a word.

    ``erased_days``: for how long what still arrives of an erased subject is erased, too; longer than the topic keeps turns.
    """

    days: float = Field(30, gt=0, le=3650)
    records_days: float = Field(365, ge=2, le=3650)
    erased_days: float = Field(7, gt=0, le=90)


class Log(_Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["json", "console"] = "json"


class Settings(_Section):
    state_dir: Path = Path(".jiezhu")
    kafka: Kafka = Kafka()
    database: Database = Database()
    encoder: Encoder = Encoder()
    keys: Keys = Keys()
    pagers: Pagers = Pagers()
    escalation: Escalation = Escalation()
    grouping: Grouping = Grouping()
    watching: Watching = Watching()
    dead_letters: DeadLetters = DeadLetters()
    canary: Canary = Canary()
    http: Http = Http()
    audit: Audit = Audit()
    publishing: Publishing = Publishing()
    retention: Retention = Retention()
    log: Log = Log()
    second_opinion: SecondOpinionSettings = SecondOpinionSettings()

    @property
    def database_url(self) -> str:
        if self.database.url is not None:
            return self.database.url.get_secret_value()
        return f"sqlite:///{self.state_dir / 'jiezhu.sqlite'}"

    @property
    def dead_letter_topic(self) -> str:
        return self.kafka.dead_letter_topic or f"{self.kafka.topic}.dead"


def load(config: Path | None, environ: Mapping[str, str]) -> Settings:
    """Read settings; the environment stands above the file.

    Raises ConfigurationError, whose text names the key and what to do.
    """
    tree: dict[str, Any] = _read_toml(config) if config is not None else {}
    given = {name: value for name, value in environ.items() if name not in _OTHER_READERS}
    put_environment(tree, given, Settings)
    try:
        settings = Settings.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key, within = key_of(first["loc"], Settings)
        raise ConfigurationError(key, within + _problem(first)) from None
    check(settings)
    return settings


def environment_names() -> set[str]:
    """Every environment name that is understood, ``…_FILE`` of secrets among them."""
    return names_of(Settings) | _OTHER_READERS


# Names with our prefix that something else reads: the tests' cache.
_OTHER_READERS = frozenset({"JIEZHU_CACHE_DIR"})


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError("--config", f"cannot be read ({error.strerror}); give a TOML file") from None
    except UnicodeDecodeError:
        raise ConfigurationError("--config", "is not UTF-8; save the file anew") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")  # the rest may repeat the file
        raise ConfigurationError("--config", f"is not TOML ({where}); mend the file") from None


def _problem(error: Any) -> str:
    """Tell what pydantic found without repeating the value, which may be a secret."""
    match error["type"]:
        case "extra_forbidden":
            return "is not a known setting; see `jiezhu check-config --names`"
        case "missing":
            return "is missing; set it"
        case _:
            message = str(error["msg"]).removeprefix("Value error, ")
            return f"{message[0].lower()}{message[1:]}"


def check(settings: Settings) -> None:
    """What one field alone cannot tell."""
    _check_channels(settings)
    _check_escalation(settings)
    _check_kafka(settings.kafka)
    for name in ("public_url", "runbook_url"):
        _check_url(f"{PREFIX}HTTP__{name.upper()}", getattr(settings.http, name))
    heartbeat = settings.canary.heartbeat_url
    _check_url(f"{PREFIX}CANARY__HEARTBEAT_URL", heartbeat.get_secret_value() if heartbeat else None)


def _check_channels(settings: Settings) -> None:
    names = every_channel(settings)
    if CHANNEL in names:
        raise ConfigurationError(f"{PREFIX}PAGERS", f"no pager may be named {CHANNEL}; choose another name")
    own = settings.canary.pager
    if own is not None and own not in names:
        raise ConfigurationError(
            f"{PREFIX}CANARY__PAGER", f"{own} is not a configured pager; have {_list(set(names))}"
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"{PREFIX}PAGERS", f"two pagers are named {twice}; give each its own name")


def _check_escalation(settings: Settings) -> None:
    channels = set(channel_names(settings))
    people = settings.escalation.people
    key = f"{PREFIX}ESCALATION__PEOPLE"
    for person, own in people.items():
        if not own:
            raise ConfigurationError(key, f"{person} has no pager; name one of {_list(channels)}")
        if person in channels:
            raise ConfigurationError(key, f"{person} is the name of a pager, too; call one of them otherwise")
        for channel in own:
            if channel not in channels:
                raise ConfigurationError(
                    key, f"{person}: {channel} is not a configured pager; have {_list(channels)}"
                )
    given = {"STEPS": [t for step in settings.escalation.steps for t in step.targets]}
    given["TICKETS"] = settings.escalation.tickets
    for name, targets in given.items():
        for target in targets:
            if target not in channels and target not in people:
                raise ConfigurationError(
                    f"{PREFIX}ESCALATION__{name}",
                    f"{target} is neither a person nor a configured pager; have {_list(channels | set(people))}",
                )


def _check_kafka(kafka: Kafka) -> None:
    prefix = f"{PREFIX}KAFKA__"
    if not all(_SERVER.fullmatch(one.strip()) for one in kafka.bootstrap_servers.split(",")):
        raise ConfigurationError(
            f"{prefix}BOOTSTRAP_SERVERS", "must read host:port, with commas between several"
        )
    if kafka.security_protocol.startswith("SASL"):
        for name in ("sasl_username", "sasl_password"):
            if not getattr(kafka, name):
                raise ConfigurationError(
                    f"{prefix}{name.upper()}", f"is missing; {kafka.security_protocol} needs it"
                )
    if kafka.ssl_ca_file is not None and not kafka.ssl_ca_file.is_file():
        raise ConfigurationError(f"{prefix}SSL_CA_FILE", "is no file; give the path of a PEM file")
    for name in ("sasl_mechanism", "sasl_username", "sasl_password", "ssl_ca_file"):
        if kafka.security_protocol == "PLAINTEXT" and getattr(kafka, name):
            raise ConfigurationError(
                f"{prefix}{name.upper()}",
                f"is set, and {prefix}SECURITY_PROTOCOL is PLAINTEXT, which would pass it over; set that, too",
            )
    if kafka.dead_letter_topic == kafka.topic:
        raise ConfigurationError(
            f"{prefix}DEAD_LETTER_TOPIC", "is the topic that is read; dead letters need another"
        )


def _check_url(key: str, url: str | None) -> None:
    try:
        good = url is None or (urlsplit(url).scheme in ("http", "https") and bool(urlsplit(url).hostname))
    except ValueError:
        good = False
    if not good:
        raise ConfigurationError(key, "is no URL; it must start with http:// or https:// and name a host")


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def channel_names(settings: Settings) -> list[str]:
    """Name every channel to people, in the order in which they are trusted; the canary's own is none."""
    return [name for name in every_channel(settings) if name != settings.canary.pager]


def every_channel(settings: Settings) -> list[str]:
    """Name every configured channel, the canary's among them."""
    pagers = settings.pagers
    single = [pagers.pagerduty, pagers.webhook, pagers.alertmanager, pagers.apprise]
    names = [one.name for one in single if one is not None]
    return [*names, *pagers.named, *(["console"] if pagers.console else [])]
