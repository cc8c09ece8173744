"""What all deleting shares: how much at once, what hangs on an incident, and the count of what went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete

from monitor.store.schema import audit, excerpts, outbox

AT_ONCE = 40  # conversations of one transaction, which is over long before the store's time limit
NAMES = 500  # the same of what is only named
BY_INCIDENT = (outbox.c.incident, audit.c.incident, excerpts.c.incident)


@dataclass(frozen=True, slots=True)
class Gone:
    """How many rows of which table were deleted; ``unreadable`` of them said nothing any more."""

    rows: Counter[str]
    unreadable: int = 0


def delete_of(connection: Connection, column: Any, values: Iterable[str]) -> int:
    wanted = list(values)
    return connection.execute(delete(column.table).where(column.in_(wanted))).rowcount if wanted else 0
