"""Amazon Bedrock's clients, and what their failures mean. Our own retries are used, never those of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tributary.core.clock import utc_now
from tributary.core.errors import (
    BadSetting,
    ModelFailed,
    ModelMalformed,
    ModelThrottled,
    ModelTimedOut,
    ModelUnreachable,
)
from tributary.models.loopback import is_here
from tributary.models.resets import wait_s

if TYPE_CHECKING:
    from botocore.config import Config
    from mypy_boto3_bedrock import BedrockClient
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

_CONNECT_TIMEOUT_S = 5.0
_CONNECTIONS = 64
_MISSING = "Bedrock needs boto3, which is not installed: pip install 'tributary-memory[aws]'"

_THROTTLED = frozenset(
    {"ThrottlingException", "TooManyRequestsException", "ServiceQuotaExceededException", "ModelNotReadyException", "Throttling"}
)
_AWAY = frozenset({"ServiceUnavailableException", "InternalServerException", "ModelErrorException", "ServiceUnavailable"})
EXPIRED = frozenset({"ExpiredTokenException", "ExpiredToken", "RequestExpired"})
"""What any service of AWS says of credentials whose time is over."""
UNKNOWN = frozenset(
    {
        "UnrecognizedClientException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "IncompleteSignatureException",
        "MissingAuthenticationTokenException",
        "SignatureDoesNotMatch",
    }
)
"""What any service of AWS says of credentials that it does not accept."""
RENEW = "renew them (aws sso login, or a new session token) and try again"


def runtime_client(*, region: str, url: str | None, timeout_s: float) -> BedrockRuntimeClient:
    """Makes a client that invokes models; safe to share between threads. Raises BadSetting."""
    client: BedrockRuntimeClient = _client("bedrock-runtime", region, url, timeout_s)
    return client


def control_client(*, region: str, url: str | None, timeout_s: float) -> BedrockClient:
    """Makes a client that lists models; raises BadSetting."""
    client: BedrockClient = _client("bedrock", region, url, timeout_s)
    return client


def _client(service: Any, region: str, url: str | None, timeout_s: float) -> Any:
    try:
        import boto3
        from botocore.exceptions import BotoCoreError
    except ModuleNotFoundError:
        raise BadSetting(_MISSING) from None
    try:
        # a session of its own: the default one is no thread's to share while a client is made
        config = _config(timeout_s, proxied=url is None or not is_here(url))
        client = boto3.session.Session().client(service, region_name=region, endpoint_url=url, config=config)
    except (BotoCoreError, ValueError) as error:
        kind = type(error).__name__
        raise BadSetting(f"Bedrock: the region, the URL or the AWS profile at hand is of no use ({kind})") from None
    from tributary.models import aws_wire

    aws_wire.bind(client)
    return client


def _config(timeout_s: float, *, proxied: bool) -> Config:
    from botocore.config import Config

    return Config(
        connect_timeout=min(_CONNECT_TIMEOUT_S, timeout_s),
        read_timeout=timeout_s,
        retries={"total_max_attempts": 1, "mode": "standard"},
        max_pool_connections=_CONNECTIONS,
        tcp_keepalive=True,
        proxies=None if proxied else {},  # None leaves them to the environment
    )


def error_code(error: Exception) -> str:
    """Returns the service's code of an error, else the name of its kind. Neither holds anything that was sent."""
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return str(code) if code else type(error).__name__


def service_message(error: Exception) -> str:
    """Returns what the service says of a refused request, to be looked at and never to be shown: it may repeat what was sent."""
    response = getattr(error, "response", None)
    return str(response.get("Error", {}).get("Message", "")) if isinstance(response, dict) else ""


def failure(error: Exception, *, model: str) -> ModelFailed:
    """Returns what an exception of the client means. Its message says what to do and repeats nothing of the service's text."""
    cause = getattr(error, "kwargs", {}).get("error", error)  # what the library wraps
    if isinstance(cause, ModelFailed):
        return cause
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return _refusal(error, response, model)
    return _broken(error)


def _refusal(error: Exception, response: dict[str, Any], model: str) -> ModelFailed:
    code = error_code(error)
    meta = response.get("ResponseMetadata", {})
    status = int(meta.get("HTTPStatusCode", 0))
    if code in _THROTTLED or status == 429:
        return ModelThrottled(f"Bedrock throttles ({code})", retry_after_s=wait_s(meta.get("HTTPHeaders", {}), utc_now()))
    if code == "ModelTimeoutException":
        return ModelTimedOut("Bedrock's model took too long (ModelTimeoutException)")
    if code in _AWAY or status >= 500:
        return ModelUnreachable(f"Bedrock is away ({code})")
    if 300 <= status < 400:
        return ModelFailed(
            f"Bedrock's URL redirects to another address (HTTP {status}), where nothing is sent: set TRIBUTARY_BEDROCK_URL to"
            " where Bedrock is"
        )
    return ModelFailed(_remedy(code, model, service_message(error)) or f"Bedrock refuses the request ({code}, HTTP {status})")


def _remedy(code: str, model: str, message: str) -> str | None:
    if code in EXPIRED:
        return f"the AWS credentials have expired ({code}): {RENEW}"
    if code in UNKNOWN:
        return f"AWS does not accept the credentials ({code}): check the access key, its secret and the session token"
    if code == "AccessDeniedException":
        return (
            f"AWS denies access to '{model}' ({code}): allow bedrock:InvokeModel on it, and on the models behind an inference"
            " profile, and see in Bedrock's console that the account may use it"
        )
    if code == "ResourceNotFoundException":
        return f"there is no model '{model}' in this region, or its life has ended ({code})"
    return _invalid(message, model) if code == "ValidationException" else None


def _invalid(message: str, model: str) -> str:
    if "on-demand throughput" in message:
        return (
            f"'{model}' can only be invoked through an inference profile (ValidationException): use the profile's id, such as"
            f" 'us.{model}', or its ARN"
        )
    if "model identifier is invalid" in message:
        return f"'{model}' is no model's id in this region (ValidationException)"
    if "too long" in message or "too many" in message:
        return "the question is longer than the model takes (ValidationException)"
    return "Bedrock finds the request invalid (ValidationException)"


def _broken(error: Exception) -> ModelFailed:
    from botocore import exceptions as aws
    from botocore.parsers import ResponseParserError
    from urllib3.exceptions import TimeoutError as WireTimeout

    kind = type(error).__name__
    if isinstance(error, aws.ReadTimeoutError | WireTimeout):
        return ModelTimedOut("Bedrock did not answer in time")
    if isinstance(error, aws.NoCredentialsError | aws.PartialCredentialsError | aws.CredentialRetrievalError):
        return ModelFailed(
            f"no AWS credentials were found ({kind}): set AWS_PROFILE, AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY or"
            " AWS_BEARER_TOKEN_BEDROCK, or run with a role"
        )
    if isinstance(error, aws.UnauthorizedSSOTokenError | aws.SSOTokenLoadError | aws.TokenRetrievalError):
        return ModelFailed(f"the AWS credentials have expired ({kind}): {RENEW}")
    if isinstance(error, aws.HTTPClientError | aws.ConnectionError):
        return ModelUnreachable(f"Bedrock cannot be reached ({kind})")
    if isinstance(error, ResponseParserError | ValueError | TypeError | AttributeError | LookupError | RecursionError):
        # the library reads an answer without looking at it first; what is sent, it has checked before
        return ModelMalformed(f"Bedrock's answer cannot be read ({kind})")
    return ModelFailed(f"Bedrock's client failed ({kind})")
