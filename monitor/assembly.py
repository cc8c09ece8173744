"""From settings to the objects that the daemon and the commands share: keys, store, detectors, pagers, paging."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from alerts.escalation import Links, Routing
from alerts.group import path_of
from alerts.pagers.alertmanager import Alertmanager
from alerts.pagers.canary import CanaryChannel
from alerts.pagers.console import Console
from alerts.pagers.pagerduty import PagerDuty
from alerts.pagers.second_channel import ExtraMissingError, SecondChannel
from alerts.pagers.webhook import Webhook
from alerts.policy import Policy, Step
from alerts.ports import Clock, Pager
from alerts.relay import Grouping
from alerts.signing import link
from alerts.storm import StormPolicy
from detectors.distress.trend import warm
from detectors.encoder import Progress, load_engine, prepare
from detectors.encoder.acceptance import check
from detectors.encoder.cache import locate_cache
from monitor import __version__
from monitor.canary import HeartbeatUrl
from monitor.canary_book import CanaryBook
from monitor.canary_event import CanaryMark
from monitor.changes import Paging, Settle
from monitor.crypto.development import development_keys
from monitor.crypto.keyring import KEY_BYTES, Key, Keyring, parse_secret
from monitor.crypto.pseudonym import Pseudonymiser
from monitor.decode.registry import find_decoder
from monitor.drift.folding import Folding
from monitor.drift.looking import Comparisons
from monitor.errors import ConfigurationError
from monitor.guard import Guard, Patience
from monitor.publisher import MoreFigures, Publishing
from monitor.reader import Reader
from monitor.scoring import OneAtATime, Pulse, Scoring
from monitor.settings import NamedPager, Settings, channel_names
from monitor.sources.settings import KafkaSettings
from monitor.store.baselines import Baselines
from monitor.store.sql import SqlStore
from monitor.tally.ports import Tallies
from monitor.trouble import runbook

PACE = timedelta(seconds=12)  # of adding up what batches have tallied


@dataclass(frozen=True, slots=True)
class Keys:
    keyring: Keyring
    pseudonymiser: Pseudonymiser
    links: bytes


def keys(settings: Settings) -> Keys:
    """Read the keys; on SQLite, keys that are not set come from a file that is made for development."""
    given = settings.keys
    if given.pseudonym is not None and given.seal is not None:
        pseudonymiser = Pseudonymiser.parse(given.pseudonym, "JIEZHU_KEYS__PSEUDONYM")
        keyring = Keyring.parse(given.seal, "JIEZHU_KEYS__SEAL")
    elif given.pseudonym is None and given.seal is None and settings.database_url.startswith("sqlite"):
        made = development_keys(settings.state_dir)
        pseudonymiser, keyring = made.pseudonymiser, made.keyring
    elif given.pseudonym is None:
        raise ConfigurationError(
            "JIEZHU_KEYS__PSEUDONYM", "is missing; make one with `openssl rand -base64 32` and keep it"
        )
    else:
        raise ConfigurationError(
            "JIEZHU_KEYS__SEAL",
            "is missing; make one with `echo first:$(openssl rand -base64 32)` and keep it",
        )
    if given.links is not None:
        return Keys(keyring, pseudonymiser, parse_secret(given.links, "JIEZHU_KEYS__LINKS"))
    # links are signed with a key of their own; without one, with a key derived from the pseudonyms'
    return Keys(keyring, pseudonymiser, pseudonymiser.key("links"))


def ephemeral_keys() -> Keys:
    """Keys for a run that keeps nothing."""
    keyring = Keyring([Key("run", secrets.token_bytes(KEY_BYTES))])
    return Keys(keyring, Pseudonymiser(secrets.token_bytes(KEY_BYTES)), secrets.token_bytes(KEY_BYTES))


def store(settings: Settings, keyring: Keyring) -> SqlStore:
    return SqlStore(settings.database_url, keyring, timedelta(seconds=settings.database.timeout_seconds))


def scoring(settings: Settings, progress: Progress, sketch_key: bytes = b"") -> Scoring:
    """Prepare the encoder (minutes the first time) and load the detectors. Blocking.

    ``sketch_key`` keys the sketches of words that are stored with a conversation; a command that stores none needs none.
    """
    warm()
    # A second of imports that the smaller commands would wait for.
    from detectors.crisis.model import SHIPPED  # noqa: PLC0415 - see above
    from detectors.crisis.scorer import TrainedScorer  # noqa: PLC0415 - see above
    from detectors.reply.encoded import EncodedReplyScorer  # noqa: PLC0415 - see above

    prepared = prepare(settings.encoder.source, settings.encoder.cache_dir, progress, SHIPPED)
    check(prepared, settings.encoder.cache_dir or locate_cache())
    pulse = Pulse()
    engine = load_engine(settings.encoder.engine, prepared, threads=settings.encoder.threads)
    encoder = OneAtATime(engine, pulse)
    return Scoring(
        TrainedScorer(encoder, sketch_key=sketch_key),
        EncodedReplyScorer(encoder, sketch_key=sketch_key),
        pulse,
    )


def guard(
    settings: Settings,
    load: Callable[[], Scoring],
    clock: Clock,
    sketch_key: bytes,
    up: Callable[[bool], None],
) -> Guard:
    patience = Patience(still=settings.encoder.patience_seconds)
    return Guard(load, clock, sketch_key=sketch_key, patience=patience, up=up)


def reader(pseudonymiser: Pseudonymiser, clock: Clock, mark: CanaryMark | None = None) -> Reader:
    decoder = find_decoder("native", 1_048_576)
    if mark is None:
        return Reader(decoder, pseudonymiser, clock)
    return Reader(decoder, pseudonymiser, clock, mark.marked)


def policy(settings: Settings) -> Policy:
    watching = settings.watching
    return Policy(
        reply_deadline=timedelta(seconds=watching.reply_deadline_seconds),
        imminent_reply_deadline=timedelta(seconds=watching.imminent_reply_deadline_seconds),
        grace=timedelta(seconds=watching.grace_seconds),
        quiet=timedelta(minutes=watching.quiet_minutes),
        steps=_steps(settings),
    )


def paging(settings: Settings, links_key: bytes, clock: Clock, settle: Settle = list) -> Paging:
    return Paging(policy(settings), routing(settings), _links(settings, links_key, clock), settle)


def grouping(settings: Settings, links: Links) -> Grouping:
    given = settings.grouping
    return Grouping(StormPolicy(requests=given.requests_per_minute, singles=given.single_pages), links)


def routing(settings: Settings) -> Routing:
    return Routing(
        channels=tuple(channel_names(settings)),
        people={person: tuple(own) for person, own in settings.escalation.people.items()},
        tickets=tuple(settings.escalation.tickets),
    )


def pagers(settings: Settings, clock: Clock) -> list[Pager]:
    """Every configured channel, and the canary's. Raises ConfigurationError if none goes to people."""
    given = settings.pagers
    made: list[Pager] = []
    if given.pagerduty is not None:
        made.append(PagerDuty(given.pagerduty, clock))
    if given.webhook is not None:
        made.append(Webhook(given.webhook, clock))
    if given.alertmanager is not None:
        made.append(Alertmanager(given.alertmanager, clock))
    if given.apprise is not None:
        made.append(_apprise(given.apprise))
    made += [_named(name, one, clock) for name, one in given.named.items()]
    if given.console:
        made.append(Console())
    own = next((pager for pager in made if pager.name == settings.canary.pager), None)
    made = [pager for pager in made if pager is not own]
    if not made:
        raise ConfigurationError(
            "JIEZHU_PAGERS",
            "no pager is configured; set JIEZHU_PAGERS__WEBHOOK__URL or another (JIEZHU_PAGERS__CONSOLE=true to try)",
        )
    return [*made, CanaryChannel(own)]


def canary_mark(settings: Settings, pseudonymiser: Pseudonymiser) -> CanaryMark:
    given = settings.keys.canary
    if given is not None:
        return CanaryMark(parse_secret(given, "JIEZHU_KEYS__CANARY"), pseudonymiser)
    return CanaryMark(pseudonymiser.key("canary"), pseudonymiser)


def canary_book(settings: Settings, clock: Clock) -> CanaryBook:
    given = settings.canary
    return CanaryBook(
        timedelta(seconds=given.every_seconds), timedelta(seconds=given.within_seconds), clock.now()
    )


def publishing(settings: Settings) -> Publishing | None:
    """None if it is switched off: then nothing is tallied either."""
    given = settings.publishing
    if not given.enabled:
        return None
    return Publishing(
        period=timedelta(seconds=given.period_seconds),
        window=timedelta(hours=given.window_hours),
        pace=PACE,
        fold_style=Folding(),
    )


def comparisons(
    settings: Settings, tallies: Tallies, baselines: Baselines, spent: Callable[[float], None]
) -> MoreFigures:
    return Comparisons(tallies, baselines, timedelta(days=settings.publishing.keep_days), spent)


def build() -> dict[str, str]:
    """What judges here: jiezhu's version, and the digest of all that its detectors have learnt."""
    from detectors.crisis.model import SHIPPED  # noqa: PLC0415 - see ``scoring``
    from detectors.reply import heads  # noqa: PLC0415 - see ``scoring``

    learnt = hashlib.sha256(SHIPPED.read_bytes())
    fitted = heads.load()
    learnt.update(fitted.weights.tobytes() + fitted.bias.tobytes())
    return {"version": __version__, "detectors": learnt.hexdigest()[:16]}


def heartbeat(settings: Settings, clock: Clock) -> HeartbeatUrl | None:
    url = settings.canary.heartbeat_url
    return None if url is None else HeartbeatUrl(url, clock)


def kafka(settings: Settings) -> KafkaSettings:
    given = settings.kafka
    return KafkaSettings(
        bootstrap_servers=given.bootstrap_servers,
        topic=given.topic,
        group_id=given.group_id,
        dead_letter_topic=settings.dead_letter_topic,
        security_protocol=given.security_protocol,
        sasl_mechanism=given.sasl_mechanism or "PLAIN",
        sasl_username=given.sasl_username or "",
        sasl_password=given.sasl_password.get_secret_value() if given.sasl_password else "",
        ssl_ca_file=str(given.ssl_ca_file or ""),
        batch_max_records=given.batch_records,
        linger_ms=given.linger_ms,
        session_timeout_ms=given.session_timeout_ms,
        heartbeat_interval_ms=given.session_timeout_ms // 10,
    )


def _steps(settings: Settings) -> tuple[Step, ...]:
    """Without steps of their own, the most trusted channel rings every five minutes until somebody answers."""
    given = settings.escalation.steps
    if given:
        return tuple(Step(tuple(step.targets), timedelta(seconds=step.after_seconds)) for step in given)
    names = channel_names(settings)
    return (Step((names[0],)),) if names else ()


def _links(settings: Settings, key: bytes, clock: Clock) -> Links:
    base, life = settings.http.public_url, timedelta(hours=settings.http.link_hours)

    def signed(action: str) -> Callable[[str], str | None]:
        if base is None:
            return lambda _: None
        return lambda incident: link(key, base, incident, action, clock.now() + life, path_of(incident))

    return Links(
        show=signed("show"),
        acknowledge=signed("ack"),
        runbook=runbook(settings, "JiezhuCrisisMissed"),
    )


def _named(name: str, given: NamedPager, clock: Clock) -> Pager:
    settings = given.model_copy(update={"name": name})
    match settings.kind:
        case "pagerduty":
            return PagerDuty(settings, clock)
        case "webhook":
            return Webhook(settings, clock)
        case "alertmanager":
            return Alertmanager(settings, clock)
        case "apprise":
            return _apprise(settings)


def _apprise(settings: object) -> Pager:
    try:
        return SecondChannel(settings)  # type: ignore[arg-type]
    except (ExtraMissingError, ValueError) as error:
        raise ConfigurationError("JIEZHU_PAGERS__APPRISE", str(error)) from None
