"""Alembic's entry: runs revisions over the connection that `store.migrate` hands it, or writes them out as SQL."""

from __future__ import annotations

from alembic import context

configuration = context.config

if context.is_offline_mode():
    context.configure(
        dialect_name="postgresql",
        literal_binds=True,
        transactional_ddl=True,
        version_table_schema="tributary",
    )
    with context.begin_transaction():
        context.run_migrations()
else:
    context.configure(
        connection=configuration.attributes["connection"],
        transactional_ddl=True,
        version_table_schema="tributary",
    )
    context.run_migrations()  # inside the transaction, and the lock, of store.migrate
