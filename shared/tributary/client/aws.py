"""Requests signed for AWS (SigV4), where API Gateway lets callers in by IAM. botocore is needed for it, and loaded only then."""

from __future__ import annotations

import re
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from tributary.client.errors import BadSetting, NotConfigured, TributaryError, Unauthenticated

if TYPE_CHECKING:
    from botocore.credentials import Credentials, ReadOnlyCredentials
    from botocore.session import Session

_SERVICE = "execute-api"
_IN_HOST = re.compile(r"\.execute-api\.([a-z0-9-]+)\.(?:amazonaws\.com(?:\.cn)?|api\.aws)")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]{1,2}")
_SIGNED = ("content-type", "idempotency-key")
"""What is signed besides host, date and session token: what changes a request's meaning, and nothing that a proxy may touch."""
_RENEW = "renew them (aws sso login, or a new session token) and try again"


@dataclass(frozen=True, kw_only=True)
class Aws:
    """Has requests signed with AWS credentials instead of showing a token.

    The region is that of the API: by default the one in its address, else AWS_REGION, else the profile's. Credentials are found
    as every AWS tool finds them, those of `profile` where it is given, and fetched anew before they expire.
    """

    region: str | None = None
    profile: str | None = None


@dataclass(frozen=True, kw_only=True)
class Signing:
    """Which credentials sign, and for which region."""

    region: str
    profile: str | None


def signing_at(url: str, aws: Aws, environment: Mapping[str, str]) -> Signing:
    """Returns how requests to `url` are signed.

    Raises NotConfigured without botocore or any region, and BadSetting for what is no region.
    """
    if find_spec("botocore") is None:
        raise NotConfigured("signing for AWS needs botocore, which is not installed: pip install 'tributary-memory[aws]'")
    in_host = _IN_HOST.search(urlsplit(url).hostname or "")
    region = (
        aws.region
        or (in_host.group(1) if in_host else None)
        or environment.get("AWS_REGION")
        or environment.get("AWS_DEFAULT_REGION")
        or _of_profile(aws.profile)
    )
    if not region:
        raise NotConfigured(f"no AWS region for {url}: set AWS_REGION, or pass aws=Aws(region=...), with the region of the API")
    if not _REGION.fullmatch(region):
        raise BadSetting(f"'{region[:40]}' is no region of AWS; it must look like eu-central-1")
    return Signing(region=region, profile=aws.profile)


class SigV4(httpx.Auth):
    """Signs each request as it goes over the wire, each try anew. Threads and tasks may share one."""

    def __init__(self, signing: Signing, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._region = signing.region
        self._profile = signing.profile
        self._now = now
        self._lock = threading.Lock()
        self._found: Credentials | None = None

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.read()
        self._sign(request)
        yield request

    async def async_auth_flow(self, request: httpx.Request) -> AsyncGenerator[httpx.Request, httpx.Response]:
        import asyncio

        await request.aread()
        await asyncio.to_thread(self._sign, request)  # credentials may have to be fetched
        yield request

    def _sign(self, request: httpx.Request) -> None:
        """Puts date, session token and signature into the request's headers; raises the errors of missing credentials."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        credentials = self._credentials()
        host, date = request.headers["host"], self._now().astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
        added = {"x-amz-date": date, **({"x-amz-security-token": credentials.token} if credentials.token else {})}
        headers = {"host": host, **added, **{name: request.headers[name] for name in _SIGNED if name in request.headers}}
        # The path as it is sent, which the signer encodes once more, as all services but S3 have it.
        url = f"https://{host}{request.url.raw_path.decode('ascii')}"
        asked = AWSRequest(method=request.method, url=url, data=request.content, headers=headers)
        asked.context["timestamp"] = date
        signer = SigV4Auth(credentials, _SERVICE, self._region)
        # Step by step, since the one call for all of them logs each at DEBUG, and with it the session token.
        signature = signer.signature(signer.string_to_sign(asked, signer.canonical_request(asked)), asked)
        names = signer.signed_headers(signer.headers_to_sign(asked))
        request.headers.update(added)
        request.headers["authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={signer.scope(asked)}, SignedHeaders={names}, Signature={signature}"
        )

    def _credentials(self) -> ReadOnlyCredentials:
        try:
            with self._lock:
                if self._found is None:
                    self._found = _session(self._profile).get_credentials()
            frozen = self._found.get_frozen_credentials() if self._found else None
        except Exception as error:
            raise _without_credentials(error, self._profile) from None
        if frozen is None:
            raise NotConfigured(
                "no AWS credentials were found to sign with: set AWS_PROFILE, or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY,"
                " or run with a role"
            )
        return frozen


def _session(profile: str | None) -> Session:
    import botocore.session

    return botocore.session.Session(profile=profile)


def _of_profile(profile: str | None) -> str | None:
    try:
        found = _session(profile).get_config_variable("region")
    except Exception as error:
        raise _without_credentials(error, profile) from None
    return str(found) if found else None


def _without_credentials(error: Exception, profile: str | None) -> TributaryError:
    """Returns what a failure of the library means. It repeats nothing but its kind: its words may hold what was read."""
    from botocore import exceptions as aws

    kind = type(error).__name__
    if isinstance(error, aws.UnauthorizedSSOTokenError | aws.SSOTokenLoadError | aws.TokenRetrievalError):
        return Unauthenticated(f"the AWS credentials have expired ({kind}): {_RENEW}")
    if isinstance(error, aws.ProfileNotFound):
        named = f"'{profile}'" if profile else "that AWS_PROFILE names"
        return NotConfigured(f"there is no AWS profile {named}; check ~/.aws/config")
    return NotConfigured(f"no AWS credentials could be had ({kind}): check AWS_PROFILE, ~/.aws/config and the network")
