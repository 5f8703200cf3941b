"""Invoking the operator's Lambda function: one request, never sent twice, and what its failures mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from tributary.contract.operator import Arguments, Failure, Operation, Result
from tributary.edges.cli.failures import CommandFailed
from tributary.edges.lambda_http.rules import explain
from tributary.models.aws import EXPIRED, RENEW, UNKNOWN

Read = TypeVar("Read", bound=BaseModel)

FUNCTION_VARIABLE = "TRIBUTARY_OPERATOR_FUNCTION"
TIMEOUT_S = 910.0
"""How long an answer is waited for: a function may run for 900 seconds."""
_CONNECT_S = 10.0

_THROTTLED = frozenset({"TooManyRequestsException", "ThrottlingException", "Throttling", "EC2ThrottledException"})
_DENIED = frozenset({"AccessDeniedException", "AccessDenied", "KMSAccessDeniedException"})
_NOT_ACCEPTED = UNKNOWN | {"IncompleteSignature"}
_NOT_KNOWN = "whether it was done is not known: look before you repeat it"


class Invoke(Protocol):
    """The call of Lambda's client that is used."""

    def __call__(self, *, FunctionName: str, InvocationType: str, Payload: bytes) -> Mapping[str, Any]: ...  # noqa: N803


class OperatorFunction:
    """The function by its name or ARN, invoked with whatever credentials boto3 finds."""

    def __init__(
        self,
        function: str | None,
        *,
        region: str | None,
        environment: Mapping[str, str],
        cell: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Reads what is not given from `environment`; raises CommandFailed. Nothing is sent before the first call."""
        self.name = function or environment.get(FUNCTION_VARIABLE) or ""
        if not self.name:
            raise CommandFailed("not_configured", f"which function? Give --function NAME, or set {FUNCTION_VARIABLE}")
        parts = self.name.split(":")
        named = parts[3] if len(parts) > 6 and parts[0] == "arn" else None
        self._region = region or named or environment.get("AWS_REGION") or None
        self._cell = cell
        self._timeout_s = timeout_s
        self._invoke: Invoke | None = None

    def call(self, operation: Operation[Arguments, Result], **arguments: object) -> Result:
        """Has the function do an operation; raises CommandFailed with its own code, or saying why it did not answer."""
        try:
            asked = operation.arguments.model_validate(arguments)
        except ValidationError as error:
            first = explain(error.errors(include_input=False, include_url=False), arguments)[0]
            raise CommandFailed("invalid_request", f"{first.field} {first.rule}") from None
        event = {"operation": operation.name, "arguments": asked.model_dump(mode="json"), "cell": self._cell}
        reply = self._answer(json.dumps(event).encode())
        if "error" in reply:
            failure = self._read(Failure, reply["error"])
            raise CommandFailed(failure.code, failure.detail)
        return self._read(operation.result, reply.get("result"))

    def _answer(self, payload: bytes) -> dict[str, Any]:
        try:
            if self._invoke is None:
                self._invoke = _client(self._region, self._timeout_s).invoke
            response = self._invoke(FunctionName=self.name, InvocationType="RequestResponse", Payload=payload)
            content = response["Payload"].read()
        except ModuleNotFoundError:
            raise
        except Exception as error:
            raise _failure(error, self.name) from error
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            document = None
        if response.get("FunctionError"):
            self._function_failed(document if isinstance(document, dict) else {})
        if not isinstance(document, dict):
            raise CommandFailed("bad_reply", f"what '{self.name}' answers is no JSON object; is it the operator's function?")
        return document

    def _function_failed(self, document: Mapping[str, Any]) -> NoReturn:
        """Raises for an invocation that the function did not end itself; only its kind is told, its message may hold anything."""
        kind = str(document.get("errorType") or "unknown")
        # Older runtimes give a time-out no type; its words are always these.
        if kind == "Sandbox.Timedout" or "Task timed out after" in str(document.get("errorMessage")):
            raise CommandFailed("timed_out", f"the function '{self.name}' was stopped at its time-out; {_NOT_KNOWN}")
        raise CommandFailed("internal", f"the function '{self.name}' failed ({kind}); its log group tells more, and {_NOT_KNOWN}")

    def _read(self, model: type[Read], document: object) -> Read:
        try:
            return model.model_validate(document)
        except ValidationError:
            detail = f"the answer of '{self.name}' is none that this version reads; is it the operator's function, and as new?"
            raise CommandFailed("bad_reply", f"{detail} If so, {_NOT_KNOWN}") from None


def _client(region: str | None, timeout_s: float) -> Any:
    import boto3
    from botocore.config import Config

    # One attempt: botocore would send a request again whose reply was lost, and make a second token.
    config = Config(
        connect_timeout=_CONNECT_S,
        read_timeout=timeout_s,
        retries={"total_max_attempts": 1, "mode": "standard"},
        tcp_keepalive=True,  # a gateway on the way forgets a connection that is silent for minutes
    )
    return boto3.Session(region_name=region).client("lambda", config=config)


def _failure(error: Exception, function: str) -> CommandFailed:
    """Returns what an exception of boto3 means. It repeats nothing of the service's text but the code."""
    response = getattr(error, "response", None)
    if isinstance(response, dict) and isinstance(response.get("Error"), dict):
        status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
        return _refusal(str(response["Error"].get("Code") or "unknown"), status, function)
    return _broken(error, function)


def _refusal(code: str, status: int, function: str) -> CommandFailed:
    if code in _THROTTLED or status == 429:
        return CommandFailed("rate_limited", f"AWS throttles ({code}); nothing was done, try again in a while")
    if code in _DENIED:
        needed = f"allow lambda:InvokeFunction on '{function}' to who you are here (aws sts get-caller-identity)"
        return CommandFailed("forbidden", f"AWS denies this ({code}): {needed}")
    if code in EXPIRED:
        return CommandFailed("unauthenticated", f"the AWS credentials have expired ({code}): {RENEW}")
    if code in _NOT_ACCEPTED:
        detail = f"AWS does not accept the credentials ({code}): check the access key, its secret and the session token"
        return CommandFailed("unauthenticated", detail)
    if code == "ResourceNotFoundException":
        detail = f"there is no function '{function}' in this account and region ({code})"
        return CommandFailed("not_configured", f"{detail}: check --function and --region, or the profile")
    if status >= 500:
        return CommandFailed("unavailable", f"Lambda could not run the function ({code}); {_NOT_KNOWN}")
    return CommandFailed("not_configured", f"Lambda refuses the request ({code}, HTTP {status}): check --function '{function}'")


def _broken(error: Exception, function: str) -> CommandFailed:
    from botocore import exceptions as aws

    kind = type(error).__name__
    gone = f"whether '{function}' did it is not known: look before you repeat it"
    profile = "check AWS_PROFILE and ~/.aws/config"
    role = "set AWS_PROFILE, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY, or run with a role"
    network = "nothing was done; check the network, a proxy's settings and the region"
    table: tuple[tuple[tuple[type[Exception], ...], str, str, str], ...] = (
        (
            (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError),
            *("not_configured", "no AWS credentials were found", role),
        ),
        (
            (aws.UnauthorizedSSOTokenError, aws.SSOTokenLoadError, aws.TokenRetrievalError),
            *("unauthenticated", "the AWS credentials have expired", RENEW),
        ),
        ((aws.NoRegionError, aws.InvalidRegionError), "not_configured", "no AWS region", "give --region, or set AWS_REGION"),
        (
            (aws.ProfileNotFound, aws.ConfigNotFound, aws.ConfigParseError),
            *("not_configured", "the AWS profile cannot be used", profile),
        ),
        ((aws.ParamValidationError,), "not_configured", f"'{function}' is no function's name", "check --function"),
        ((aws.ReadTimeoutError,), "timed_out", "no answer came in time", gone),
        (
            (aws.EndpointConnectionError, aws.ConnectTimeoutError, aws.ProxyConnectionError, aws.SSLError),
            *("unreachable", "Lambda cannot be reached", network),
        ),
        ((aws.HTTPClientError, aws.ConnectionError, OSError), "unreachable", "the connection to Lambda broke", gone),
        ((aws.BotoCoreError, ValueError), "not_configured", "the AWS client cannot be used", "check the AWS settings"),
    )
    for kinds, code, what, remedy in table:
        if isinstance(error, kinds):
            return CommandFailed(code, f"{what} ({kind}): {remedy}")
    return CommandFailed("internal", f"the AWS client failed ({kind}): {gone}")
