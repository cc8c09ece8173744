"""Updates tell pagers that somebody has it, or that it is over: those who know of the alert, and no others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from alerts.delivery import TOLD_BY_GROUP, Delivery, abandoned
from alerts.escalation import elsewhere
from alerts.page import Kind
from alerts.ports import row_id
from monitor.store import codec
from monitor.store.schema import outbox

_UPDATES = {kind.value for kind in Kind if kind.is_update}


def is_update(row_id: str) -> bool:
    """It tells a pager that somebody has it, or that it is over."""
    return _alert_of(row_id)[1] in _UPDATES


def alerts_of(connection: Connection, incident: str) -> set[str]:
    """Which alerts of an incident somebody was to be told of, as ``alerts.incident.Notify`` names them."""
    rows = connection.scalars(select(outbox.c.id).where(outbox.c.incident == incident))
    return {_alert_of(row)[0].removeprefix(incident).removeprefix("-") for row in rows}


def as_told(connection: Connection, updates: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Updates as they are to be written, by what stands in the outbox of their alerts' pages."""
    told = _told(connection, {row["incident"] for row in updates})
    alerts: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in updates:
        alerts[_alert_of(row["id"])].append(row)
    written: list[dict[str, Any]] = []
    for (key, _), rows in alerts.items():
        pages = told.get(key, _Told())
        if (group := pages.by_group_alone) is not None:
            written += [_unsent(row, group) for row in rows]
        else:
            written += [*rows, *_elsewhere(rows, pages.deliveries)]
    return sorted(written, key=lambda row: str(row["id"]))


@dataclass(slots=True)
class _Told:
    """What the pages of one alert have come to."""

    deliveries: list[Delivery] = field(default_factory=list)
    sent: bool = False
    group: str | None = None

    @property
    def by_group_alone(self) -> str | None:
        """The group whose page alone has told of it: the pager knows no such key."""
        return None if self.sent else self.group


def _told(connection: Connection, incidents: set[str]) -> dict[str, _Told]:
    query = select(outbox.c.id, outbox.c.told_by, outbox.c.delivery).where(
        outbox.c.incident.in_(sorted(incidents))
    )
    told: dict[str, _Told] = defaultdict(_Told)
    for row in connection.execute(query.order_by(outbox.c.created_at, outbox.c.id)):
        if is_update(row.id):
            continue
        pages, delivery = told[_alert_of(row.id)[0]], codec.delivery_of(row.delivery)
        if delivery is not None:
            pages.deliveries.append(delivery)
        if row.told_by is not None and delivery is not None and not delivery.attempts:
            pages.group = row.told_by
        else:
            pages.sent = True
    return told


def _elsewhere(rows: Sequence[dict[str, Any]], pages: Sequence[Delivery]) -> Iterator[dict[str, Any]]:
    like = rows[0]
    key, kind, step, *_ = f"{like['id']}:".split(":", 3)
    for channel in elsewhere([codec.DELIVERIES.decode(row["delivery"]) for row in rows], pages):
        yield like | {
            "id": row_id(key, Kind(kind), int(step), channel),
            "due_at": like["created_at"],
            "delivery": codec.DELIVERIES.encode(Delivery((channel,), next_at=like["created_at"])),
        }


def _unsent(row: dict[str, Any], group: str) -> dict[str, Any]:
    delivery = abandoned(codec.DELIVERIES.decode(row["delivery"]), TOLD_BY_GROUP)
    return row | {"due_at": None, "delivery": codec.DELIVERIES.encode(delivery), "told_by": group}


def _alert_of(row_id: str) -> tuple[str, str]:
    """Dedup key and kind, as ``alerts.escalation`` puts them into the id."""
    key, _, rest = row_id.partition(":")
    return key, rest.partition(":")[0]
