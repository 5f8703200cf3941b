"""The road over the RDS Data API: HTTPS to AWS, which runs the statement as a secret's user. Nothing of ours is on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from tributary.edges.cli.independent.catalogue import Ask, Parameter, Row, Value
from tributary.edges.cli.independent.roads import TIMEOUT_S, Answer, Cause, is_gone, through_to_the_end
from tributary.models.aws import EXPIRED, UNKNOWN

_CONNECT_S = 5.0
_CAUSES: Mapping[str, Cause] = {
    **dict.fromkeys(("AccessDeniedException", "ForbiddenException", "SecretsErrorException"), Cause.NOT_PERMITTED),
    **dict.fromkeys((*EXPIRED, *UNKNOWN), Cause.NOT_PERMITTED),
    **dict.fromkeys(("StatementTimeoutException", "DatabaseResumingException"), Cause.TIMED_OUT),
    **dict.fromkeys(
        (
            *("DatabaseUnavailableException", "DatabaseNotFoundException", "HttpEndpointNotEnabledException"),
            *("ServiceUnavailableError", "InternalServerErrorException", "NotFoundException"),
        ),
        Cause.UNREACHABLE,
    ),
}


class DataApi:
    """The cluster by its ARN, asked as the user whose secret is named."""

    channel = "data-api"
    tool = "ExecuteStatement"

    def __init__(self, *, cluster_arn: str, secret_arn: str, database: str, region: str | None) -> None:
        self._where = {"resourceArn": cluster_arn, "secretArn": secret_arn, "database": database}
        self._region = region or cluster_arn.split(":")[3]

    def answers(self, asked: Sequence[Ask]) -> list[Answer]:
        found: list[Answer] = []
        try:
            client = self._client()
        except ModuleNotFoundError:
            raise
        except Exception as error:
            return [_cause(error)] * len(asked)
        for one in asked:
            found.append(self._answer(client, one))
            if is_gone(found[-1]):
                return through_to_the_end(asked, found)
        return found

    def _client(self) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(connect_timeout=_CONNECT_S, read_timeout=TIMEOUT_S, retries={"total_max_attempts": 2, "mode": "standard"})
        return boto3.Session(region_name=self._region).client("rds-data", config=config)

    def _answer(self, client: Any, asked: Ask) -> Answer:
        parameters = [_parameter(name, value) for name, value in asked.parameters.items()]
        try:
            reply = client.execute_statement(
                **self._where, sql=asked.sql, parameters=parameters, includeResultMetadata=True, continueAfterTimeout=False
            )
        except Exception as error:
            return _cause(error)
        try:
            names = [column["name"] for column in reply["columnMetadata"]]
            return [_row(names, record) for record in reply["records"]]
        except (KeyError, TypeError, ValueError):
            return Cause.BAD_ANSWER


def _parameter(name: str, value: Parameter) -> dict[str, Any]:
    if isinstance(value, UUID):
        return {"name": name, "value": {"stringValue": str(value)}, "typeHint": "UUID"}
    return {"name": name, "value": {"longValue": value}}


def _row(names: Sequence[str], record: Sequence[Mapping[str, Any]]) -> Row:
    return {name: _value(field) for name, field in zip(names, record, strict=True)}


def _value(field: Mapping[str, Any]) -> Value:
    """Returns what a field holds; raises ValueError for one that holds nothing that is asked for, such as an array."""
    ((kind, value),) = field.items()
    if kind == "isNull":
        return None
    if kind in ("stringValue", "longValue", "booleanValue") and isinstance(value, str | int):
        return value
    raise ValueError(kind)


def _cause(error: Exception) -> Cause:
    from botocore import exceptions as aws

    response = getattr(error, "response", None)
    if isinstance(response, dict):
        code = str(response.get("Error", {}).get("Code"))
        if code in ("DatabaseErrorException", "BadRequestException"):
            return _of_database(str(response.get("Error", {}).get("Message")))
        return _CAUSES.get(code, Cause.FAILED)
    if isinstance(error, aws.ReadTimeoutError):
        return Cause.TIMED_OUT
    if isinstance(error, aws.HTTPClientError | aws.ConnectionError | OSError):
        return Cause.UNREACHABLE
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError | aws.CredentialRetrievalError):
        return Cause.NOT_PERMITTED
    return Cause.FAILED


def _of_database(message: str) -> Cause:
    """Returns what PostgreSQL refused by the SQLSTATE that the Data API puts into its message, the one place where that is."""
    for state, cause in {"42501": Cause.NOT_PERMITTED, "42P01": Cause.NOT_MIGRATED, "57014": Cause.TIMED_OUT}.items():
        if f"SQLState: {state}" in message:
            return cause
    return Cause.FAILED
