"""Settings that AWS Secrets Manager keeps: a JSON object of variables, read once a process.

The environment names the secret; nothing of what is in it reaches a message, a log or another process.
"""

from __future__ import annotations

import difflib
import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from tributary.core.errors import BadSetting, SecretUnread, TributaryError
from tributary.telemetry import Event, log

if TYPE_CHECKING:
    from mypy_boto3_secretsmanager import SecretsManagerClient

VARIABLE = "TRIBUTARY_SECRET_ARN"
ARN_RULE = (
    "must be the ARN of a secret in AWS Secrets Manager,"
    " such as arn:aws:secretsmanager:eu-central-1:123456789012:secret:keys-AbCdEf"
)
CONNECT_TIMEOUT_S = 2.0
READ_TIMEOUT_S = 4.0
ATTEMPTS = 2
"""The second for a packet that was lost. A start that fails says more than one that hangs."""

_ARN = re.compile(r"arn:aws[a-z-]*:secretsmanager:(?P<region>[a-z0-9-]{1,32}):[0-9]{12}:secret:[\w/+=.@-]{1,512}", re.ASCII)
_SHOWABLE = re.compile(r"[A-Za-z_]{1,64}")
"""Keys that a message may name: words, and nothing that could be the secret itself, put into the wrong place."""
_STRANGER = f"{VARIABLE}: what answers for Secrets Manager is not it; is a proxy in the way?"
_GONE = frozenset({"ResourceNotFoundException", "InvalidRequestException"})
_DENIED = frozenset({"AccessDeniedException", "AccessDenied", "UnauthorizedOperation"})
_UNDECIPHERED = frozenset({"DecryptionFailure", "KMSAccessDeniedException"})
_REPEATS_WHAT_IT_READ = ("botocore.parsers", "botocore.hooks", "botocore.endpoint")


def is_arn(value: str) -> bool:
    return _ARN.fullmatch(value) is not None


@cache
def read_secret(arn: str, known: frozenset[str]) -> Mapping[str, str]:
    """Returns the variables that a secret holds, each one of `known`; asked for once a process, unless that fails.

    Raises BadSetting when the secret cannot be read or is not an object of settings, and SecretUnread when another try may help.
    """
    try:
        return _variables(_fetched(arn), known)
    except TributaryError as error:
        # Over HTTP a caller learns nothing of it, so here is where whoever runs it does. The message repeats no value.
        log.event(Event.SECRET_UNREAD, level=log.ERROR, code=error.code, reason=error.detail)
        raise


def _fetched(arn: str) -> str:
    try:
        import botocore.session
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
    except ModuleNotFoundError:
        raise BadSetting(f"{VARIABLE}: needs botocore, which is not installed: pip install 'tributary-memory[aws]'") from None
    found = _ARN.fullmatch(arn)
    if found is None:
        raise BadSetting(f"{VARIABLE}: {ARN_RULE}")
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"total_max_attempts": ATTEMPTS, "mode": "standard"},
    )
    try:
        with _unlogged():
            # botocore alone: boto3 brings nothing that is needed here, and is slow to import
            session = botocore.session.get_session()
            made = session.create_client("secretsmanager", region_name=found["region"], config=config)
            reply = cast("SecretsManagerClient", made).get_secret_value(SecretId=arn)
    except ClientError as error:
        raise _refusal(error.response) from None
    except (ResponseParserError, AttributeError, TypeError):  # the library reads an answer without looking at it first
        raise SecretUnread(_STRANGER) from None
    except (BotoCoreError, ValueError) as error:
        raise _failure(error) from None
    if "SecretBinary" in reply:
        raise BadSetting(f"{VARIABLE}: the secret is binary; keep it as text, a JSON object of settings")
    if not isinstance(text := reply.get("SecretString"), str):
        raise SecretUnread(_STRANGER)
    return text


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keeps the library from logging what it reads, which at DEBUG it does in full."""
    loggers = [logging.getLogger(name) for name in _REPEATS_WHAT_IT_READ]
    for one in loggers:
        one.addFilter(_nothing)
    try:
        yield
    finally:
        for one in loggers:
            one.removeFilter(_nothing)


def _nothing(_record: logging.LogRecord) -> bool:
    return False


def _refusal(response: Mapping[str, Any]) -> TributaryError:
    """Returns what the service's refusal means. Its own words are not repeated."""
    code = str(response.get("Error", {}).get("Code", ""))
    code = code if _SHOWABLE.fullmatch(code) else "no code"
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in _GONE:
        return BadSetting(f"{VARIABLE}: there is no such secret, it has no value yet, or it is being deleted ({code})")
    if code in _DENIED:
        return BadSetting(f"{VARIABLE}: access is denied ({code}): allow secretsmanager:GetSecretValue on it to this role")
    if code in _UNDECIPHERED:
        return BadSetting(f"{VARIABLE}: it cannot be decrypted ({code}): allow kms:Decrypt on its key to this role")
    if status >= 500 or status == 429 or code.startswith("Throttl"):
        return SecretUnread(f"{VARIABLE}: Secrets Manager takes no request now ({code}); try again")
    return BadSetting(f"{VARIABLE}: Secrets Manager refuses the request ({code}, HTTP {status})")


def _failure(error: Exception) -> TributaryError:
    from botocore import exceptions as aws

    kind = type(error).__name__
    if isinstance(error, aws.HTTPClientError | aws.ConnectionError):
        return SecretUnread(
            f"{VARIABLE}: Secrets Manager cannot be reached ({kind}); without a way out, its network needs an endpoint for it"
        )
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError | aws.CredentialRetrievalError):
        return BadSetting(f"{VARIABLE}: no AWS credentials were found to read it with ({kind})")
    return BadSetting(f"{VARIABLE}: the AWS client cannot read it ({kind})")


def _variables(text: str, known: Collection[str]) -> Mapping[str, str]:
    try:
        document = json.loads(text, object_pairs_hook=_once_each)
    except _Twice:
        raise BadSetting(f"{VARIABLE}: a key is in the secret twice") from None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise BadSetting(f"{VARIABLE}: the secret is not a JSON object of settings")
    for key, value in document.items():
        if key not in known or key == VARIABLE:
            raise BadSetting(f"{VARIABLE}: {_named(key)} in the secret is no setting{_meant(key, known)}")
        if not isinstance(value, str):
            raise BadSetting(f"{VARIABLE}: the value of {key} in the secret must be text, as it would stand in the environment")
    return document


class _Twice(Exception):
    """A key came a second time."""


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _named(key: str) -> str:
    return f"the key {key}" if _SHOWABLE.fullmatch(key) else "a key"


def _meant(key: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(key.upper(), known, n=1) if _SHOWABLE.fullmatch(key) else []
    return f"; did you mean {near[0]}?" if near else ""
