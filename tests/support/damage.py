"""Rows that somebody's hand, a bad disk, or a later release has changed."""

from __future__ import annotations

from sqlalchemy import text

from monitor.store.sql import SqlStore

BROKEN = '{"v":1,"bo'
LATER = '{"v":9,"body":{}}'


async def damage_row(store: SqlStore, table: str, column: str, value: str, where: str, key: str) -> None:
    statement = text(f"UPDATE {table} SET {column} = :value WHERE {where} = :key")
    await store.database.write(lambda c: c.execute(statement, {"value": value, "key": key}))
