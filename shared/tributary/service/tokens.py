"""Passwords of databases on Amazon RDS and Aurora: IAM tokens, signed here without asking anybody.

A token is good for connections that begin within 15 minutes, and a connection outlives its token; so one is made for each
connection and none is kept. Whoever reads one can log in with it: it is never logged, and goes only where TLS proves the host.
"""

from __future__ import annotations

import ipaddress
import os
import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tributary.core.errors import BadSetting, Unavailable
from tributary.models.installed import need
from tributary.models.loopback import is_here
from tributary.service.database_urls import PORT, parts_of
from tributary.service.language_models import REGION

if TYPE_CHECKING:
    from botocore.credentials import Credentials

VALID_S = 900
_REDIRECTS = ("service", "servicefile", "passfile", "gssencmode")
"""Parameters by which libpq takes a host or a password from elsewhere, or does without TLS."""
_REDIRECTING_VARIABLES = ("PGHOSTADDR", "PGSERVICE", "PGGSSENCMODE")


def token_for(variable: str, url: str, *, region: str | None) -> Callable[[], str]:
    """Returns what makes a password for each new connection to `url`, which is the value of `variable`.

    Raises BadSetting when the URL names no host or user, has a password already, or would let a token out of a connection whose
    host is not proved, or lead it past that host; and without a region or botocore. The password's maker raises BadSetting
    when there are no credentials to sign with, and Unavailable while those of a container cannot be fetched.
    """
    need("botocore", library="botocore", extra="aws", by="TRIBUTARY_DATABASE_AUTH=iam")
    if region is None:
        raise BadSetting("AWS_REGION: is needed by TRIBUTARY_DATABASE_AUTH=iam; set it to the database's region")
    if not re.fullmatch(REGION, region):
        raise BadSetting(f"AWS_REGION: must be a region of AWS such as eu-central-1 (it is '{region}')")
    host, port, user = _place(variable, url)
    return _Signer(host=host, port=port, user=user, region=region).token


def _place(variable: str, url: str) -> tuple[str, str, str]:
    parts = parts_of(variable, url)
    host, port, user = parts.get("host", ""), parts.get("port", PORT), parts.get("user", "")
    if parts.get("password"):
        raise BadSetting(
            f"{variable}: has a password, and TRIBUTARY_DATABASE_AUTH=iam makes one itself; leave out one of the two"
        )
    if not user or not _is_host(host) or "," in port or parts.get("hostaddr"):
        raise BadSetting(f"{variable}: must name a user and one host, by name, which TRIBUTARY_DATABASE_AUTH=iam signs for")
    for name in _REDIRECTS:
        if name in parts:
            raise BadSetting(
                f"{variable}: must not have {name} with TRIBUTARY_DATABASE_AUTH=iam, which would lead a token elsewhere"
            )
    for name in _REDIRECTING_VARIABLES + (() if "port" in parts else ("PGPORT",)):
        if os.environ.get(name):
            raise BadSetting(f"{name}: must not be set with TRIBUTARY_DATABASE_AUTH=iam: it leads elsewhere than {variable} says")
    if parts.get("sslmode") != "verify-full" and not is_here(f"https://{_address(host)}"):
        raise BadSetting(f"{variable}: must have sslmode=verify-full with TRIBUTARY_DATABASE_AUTH=iam: a token is a password")
    return host, port, user


def _is_host(host: str) -> bool:
    """Tells whether this is a name or an address and nothing else; of other text a URL's host is only a part."""
    if re.fullmatch(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?", host, re.ASCII):
        return True
    try:
        return "%" not in host and bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def _address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Signer:
    """Signs the tokens of one login. Safe to share between threads."""

    def __init__(self, *, host: str, port: str, user: str, region: str) -> None:
        self._address = f"{_address(host)}:{port}"
        self._user = user
        self._region = region
        self._lock = threading.Lock()
        self._credentials: Credentials | None = None

    def token(self) -> str:
        # the parts of botocore that sign, without its clients and the models of services, which take four times as long to load
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import BotoCoreError, PartialCredentialsError

        try:
            credentials = self._found().get_frozen_credentials()
        except PartialCredentialsError as error:
            raise BadSetting(f"{error.kwargs['cred_var']}: is needed beside the other credentials of AWS") from None
        except BotoCoreError as error:
            raise Unavailable(f"the credentials of AWS that sign the database's password could not be had: {error}") from None
        signer = SigV4Auth(credentials, "rds-db", self._region)
        request = AWSRequest(method="GET", url=f"https://{self._address}/")
        request.context["timestamp"] = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        request.params = {
            "Action": "connect",
            "DBUser": self._user,
            "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
            "X-Amz-Credential": signer.scope(request),
            "X-Amz-Date": request.context["timestamp"],
            "X-Amz-Expires": str(VALID_S),
            "X-Amz-SignedHeaders": "host",
            **({"X-Amz-Security-Token": credentials.token} if credentials.token else {}),
        }
        # step by step, since the one call for all of them logs each at DEBUG: the signature, and with it the token
        signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        return f"{self._address}/?{signer.canonical_query_string(request)}&X-Amz-Signature={signature}"

    def _found(self) -> Credentials:
        """Returns the credentials of this process: its environment's (Lambda), or its container's (SnapStart, App Runner)."""
        from botocore.credentials import ContainerProvider, EnvProvider

        with self._lock:
            if self._credentials is None:
                self._credentials = EnvProvider().load() or ContainerProvider().load()
            if self._credentials is None:
                raise BadSetting("AWS_ACCESS_KEY_ID: no credentials of AWS were found to sign the database's password with")
            return self._credentials
