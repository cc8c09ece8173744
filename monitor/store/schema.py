"""The tables. One schema for SQLite and PostgreSQL; migrations make it, tests hold the two together.

No foreign keys between them: an excerpt or a page may be written before its incident is (a page that
went out while the database was away is recorded later), and a refused row would be a lost one.
A column that a later release adds needs a server default: the release before it still writes (upgrade).
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

from monitor.store.types import Instant, Words

metadata = MetaData(
    naming_convention={"pk": "pk_%(table_name)s", "ix": "ix_%(table_name)s_%(column_0_N_name)s"},
)

positions = Table(
    "positions",
    metadata,
    Column("topic", Words, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("next", BigInteger, nullable=False),
)

cases = Table(
    "cases",
    metadata,
    Column("conversation", Words, primary_key=True),
    Column("version", BigInteger, nullable=False),
    Column("topic", Words, nullable=False),
    Column("number", Integer, nullable=False),
    Column("wake_at", Instant),
    Column("body", Text, nullable=False),
    Column("sealed", LargeBinary),  # the words of streamed messages, while further pieces are joined
    Column("person", Words),  # pseudonym of the user, as far as events name one
    Column("touched_at", Instant),  # when its last event came; null: written by a release that kept no time
)
Index(
    "ix_cases_person",
    cases.c.person,
    sqlite_where=text("person IS NOT NULL"),
    postgresql_where=text("person IS NOT NULL"),
)
Index("ix_cases_touched_at", cases.c.touched_at)
Index(
    "ix_cases_sealed",
    cases.c.touched_at,
    sqlite_where=text("sealed IS NOT NULL"),
    postgresql_where=text("sealed IS NOT NULL"),
)
Index(
    "ix_cases_wake_at",
    cases.c.wake_at,
    sqlite_where=text("wake_at IS NOT NULL"),
    postgresql_where=text("wake_at IS NOT NULL"),
)

incidents = Table(
    "incidents",
    metadata,
    Column("key", Words, primary_key=True),
    Column("conversation", Words, nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("over", Boolean, nullable=False),
    Column("release", Words, nullable=False),
    Column("body", Text, nullable=False),
)
Index("ix_incidents_opened_at", incidents.c.opened_at)
Index("ix_incidents_conversation", incidents.c.conversation)
Index("ix_incidents_release", incidents.c.release, incidents.c.opened_at)
Index(
    "ix_incidents_open",
    incidents.c.opened_at,
    sqlite_where=text("NOT over"),
    postgresql_where=text("NOT over"),
)
OPEN = text("NOT incidents.over")  # in the index's own words, by which alone SQLite knows it

# ``due_at`` is when a relay may take the row: at once, at the next attempt, or when a lease runs out.
# It is null once the delivery is final, so that the index holds only what is still to be done.
outbox = Table(
    "outbox",
    metadata,
    Column("id", Words, primary_key=True),
    Column("incident", Words, nullable=False),
    Column("calm", Boolean, nullable=False),  # rings nobody: pages go first
    Column("created_at", Instant, nullable=False),
    Column("due_at", Instant),
    Column("page", Text, nullable=False),
    Column("delivery", Text, nullable=False),
    Column("told_by", Words),  # the group whose page tells of it
)
Index(
    "ix_outbox_due",
    outbox.c.calm,
    outbox.c.due_at,
    outbox.c.created_at,
    sqlite_where=text("due_at IS NOT NULL"),
    postgresql_where=text("due_at IS NOT NULL"),
)
Index(
    "ix_outbox_waiting",
    outbox.c.created_at,
    sqlite_where=text("due_at IS NOT NULL"),
    postgresql_where=text("due_at IS NOT NULL"),
)
Index(
    "ix_outbox_done",
    outbox.c.created_at,
    sqlite_where=text("due_at IS NULL"),
    postgresql_where=text("due_at IS NULL"),
)
Index("ix_outbox_incident", outbox.c.incident)
Index(
    "ix_outbox_told_by",
    outbox.c.told_by,
    outbox.c.incident,
    sqlite_where=text("told_by IS NOT NULL"),
    postgresql_where=text("told_by IS NOT NULL"),
)

# One page for many incidents. ``due_at`` is when its keeper looks at it next; null when all is over.
groups = Table(
    "groups",
    metadata,
    Column("key", Words, primary_key=True),
    Column("scope", Words, nullable=False),
    Column("track", Words, nullable=False),
    Column("ringing", Boolean, nullable=False),
    Column("opened_at", Instant, nullable=False),
    Column("due_at", Instant),
    Column("version", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
)
Index("ix_groups_scope", groups.c.scope, groups.c.opened_at)
Index(
    "ix_groups_due",
    groups.c.due_at,
    sqlite_where=text("due_at IS NOT NULL"),
    postgresql_where=text("due_at IS NOT NULL"),
)

# How much a channel was sent lately (``alerts.pace``). The row without a name is held by whoever decides.
paces = Table(
    "paces",
    metadata,
    Column("name", Words, primary_key=True),
    Column("full_at", Instant, nullable=False),
)

findings = Table(
    "findings",
    metadata,
    Column("id", Words, primary_key=True),
    Column("conversation", Words, nullable=False),
    Column("incident", Words),
    Column("kind", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Column("level", Words, nullable=False),
    Column("score", Float),
    Column("distress", Float),
    Column("outcome", Words),
    Column("reason", Words, nullable=False),
    Column("release", Words, nullable=False),
    Column("track", Words, nullable=False),
    Column("lang", Words, nullable=False),
    Column("detail", Text, nullable=False),
)
Index("ix_findings_at", findings.c.at)
Index("ix_findings_conversation", findings.c.conversation)

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("incident", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Column("reason", Words, nullable=False),
    Column("actor", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("detail", Text, nullable=False),
)
Index("ix_audit_incident", audit.c.incident, audit.c.id)
Index("ix_audit_at", audit.c.at)

excerpts = Table(
    "excerpts",
    metadata,
    Column("incident", Words, primary_key=True),
    Column("event", Words, primary_key=True),
    Column("role", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("sealed_with", Words, nullable=False),
)
Index("ix_excerpts_at", excerpts.c.at)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("topic", Words, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("position", BigInteger, primary_key=True),
    Column("reason", Words, nullable=False),
    Column("at", Instant, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("sealed_with", Words, nullable=False),
)
Index("ix_dead_letters_at", dead_letters.c.at)

# One row that is written to see whether a write stands. Nobody reads it.
probe = Table(
    "probe",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
)

# How far the time that all workers share is ahead of the server's, in microseconds, and when (by the server's clock) a
# worker last found that right. One row.
common_time = Table(
    "common_time",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("ahead", BigInteger, nullable=False),
    Column("at", Instant, nullable=False),
)

# The proof that somebody was forgotten: when, by whom, how many rows. It names nobody.
erasures = Table(
    "erasures",
    metadata,
    Column("id", Words, primary_key=True),
    Column("at", Instant, nullable=False),
    Column("done_at", Instant),
    Column("kind", Words, nullable=False),
    Column("actor", Words, nullable=False),
    Column("detail", Text, nullable=False),
)

# Whose late events are not kept, for a while: a pseudonym and nothing else.
tombstones = Table(
    "tombstones",
    metadata,
    Column("pseudonym", Words, primary_key=True),
    Column("erasure", Words, nullable=False),
    Column("until", Instant, nullable=False),
)

# What each batch adds to the figures, written with it, until the elected worker has added it up. It names nobody.
tally_queue = Table(
    "tally_queue",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("at", Instant, nullable=False),
    Column("body", Text, nullable=False),
)

# Figures by the hour in which they were written: counts and sums only. ``style`` is a sketch of how replies were put.
tally_hours = Table(
    "tally_hours",
    metadata,
    Column("hour", Instant, primary_key=True),
    Column("track", Words, primary_key=True),
    Column("release", Words, primary_key=True),
    Column("lang", Words, primary_key=True),
    Column("state", Words, primary_key=True),
    Column("basis", Words, primary_key=True),
    Column("body", Text, nullable=False),
    Column("style", LargeBinary),
)

# Who adds up and publishes. One row; whoever is elected has a ``term`` of their own, and writes nothing under another.
publisher = Table(
    "publisher",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("term", BigInteger, nullable=False),
    Column("holder", Words, nullable=False),
    Column("until", Instant, nullable=False),
)

# Releases that others are held against: counts and a sketch of style, which name nobody. Kept until somebody lets go of them.
baselines = Table(
    "baselines",
    metadata,
    Column("name", Words, primary_key=True),
    Column("track", Words, nullable=False),
    Column("release", Words, nullable=False),
    Column("pinned_at", Instant, nullable=False),
    Column("since", Instant, nullable=False),
    Column("until", Instant, nullable=False),
    Column("models", Text, nullable=False),
    Column("figures", Text, nullable=False),
    Column("sketch", LargeBinary, nullable=False),
    Column("basis", Words),  # null: pinned by a release that did not write it down
)
