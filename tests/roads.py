"""What stands at the end of another road to the database: the Data API on loopback, which runs the SQL that it is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from tests.providers.server import Asked, ProviderServer, Reply

CLUSTER = "arn:aws:rds:eu-central-1:123456789012:cluster:tributary"
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:verifier"
DATABASE = "tributary"


@contextmanager
def data_api(url: str) -> Iterator[ProviderServer]:
    """Serves ExecuteStatement in its own JSON, over the database at `url`."""

    def execute(asked: Asked) -> Reply:
        body = asked.body
        assert (body["resourceArn"], body["secretArn"], body["database"]) == (CLUSTER, SECRET, DATABASE)
        parameters = {one["name"]: _bound(one) for one in body["parameters"]}
        statement = re.sub(r":([a-z]+)\b", r"%(\1)s", body["sql"])
        try:
            with psycopg.connect(url, row_factory=dict_row) as connection:
                cursor = connection.execute(statement.encode(), parameters)
                rows = cursor.fetchall()
                columns = [column.name for column in cursor.description or ()]
        except psycopg.Error as error:
            message = f"ERROR: {error.diag.message_primary}; SQLState: {error.sqlstate}"
            return Reply(status=400, document={"message": message}, headers={"x-amzn-ErrorType": "DatabaseErrorException"})
        return Reply(
            document={
                "columnMetadata": [{"name": name, "label": name} for name in columns],
                "records": [[_field(row[name]) for name in columns] for row in rows],
                "numberOfRecordsUpdated": 0,
            }
        )

    with ProviderServer([("POST", "/Execute", execute)]) as server:
        yield server


def _bound(parameter: dict[str, Any]) -> object:
    """Returns a value as PostgreSQL would be given it: typed by the hint, as the Data API does."""
    value = parameter["value"]
    if parameter.get("typeHint") == "UUID":
        return UUID(value["stringValue"])
    return value["longValue"]


def _field(value: object) -> dict[str, Any]:
    if value is None:
        return {"isNull": True}
    if isinstance(value, bool):
        return {"booleanValue": value}
    return {"longValue": value} if isinstance(value, int) else {"stringValue": str(value)}
