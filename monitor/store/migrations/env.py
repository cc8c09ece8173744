"""Alembic's entry. Always given a connection in a transaction by ``monitor.store.migration``."""

from __future__ import annotations

from alembic import context

from monitor.store.schema import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",  # SQLite changes a table by making it anew
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
