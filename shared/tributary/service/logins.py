"""Who logs in where: the URLs of the settings as targets to connect to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from tributary.core.errors import BadSetting
from tributary.service.database_urls import parts_of
from tributary.service.databases import READER_TIMEOUT_S
from tributary.service.settings import Settings, variable_of
from tributary.store import OWNER, RUNTIME, Target


@dataclass(frozen=True, kw_only=True)
class Logins:
    """What is None was not set up; asking for it raises BadSetting."""

    runtime: Target | None
    """What the running code acts through."""
    replica: Target | None
    """Where reads go that may."""
    owners: Target | None
    """The login that migrates, and that becomes the owner of the schema for what the operator does."""

    @classmethod
    def in_one(cls, url: str) -> Self:
        """Returns one mighty login as both: the owner's, from which the running code steps down."""
        return cls(runtime=Target(url=url, assume=RUNTIME), replica=None, owners=Target(url=url))

    def serving(self) -> Target:
        if self.runtime is None:
            raise BadSetting("TRIBUTARY_DATABASE_URL: is needed to serve; TRIBUTARY_OWNER_URL alone is for the operator's side")
        return self.runtime

    def migrating(self) -> Target:
        if self.owners is None:
            raise BadSetting(
                "TRIBUTARY_OWNER_URL: is needed for this; with TRIBUTARY_DATABASE_AUTH=iam the database URL's login owns nothing"
            )
        return self.owners

    def owner(self) -> Target:
        return replace(self.migrating(), assume=OWNER, statement_timeout_s=0)


def logins_of(settings: Settings) -> Logins | None:
    """Returns how the URLs of `settings` log in, None when there are none and the embedded server is meant; raises BadSetting."""
    by_token = settings.database_auth == "iam"
    for_operators = by_token and settings.owner_url is not None and settings.reader_url is None
    if settings.database_url is None and not for_operators:
        for name in ("reader_url", "owner_url"):
            if getattr(settings, name) is not None:
                raise BadSetting(f"{variable_of(name)}: is set without TRIBUTARY_DATABASE_URL; set both")
        if by_token:
            raise BadSetting("TRIBUTARY_DATABASE_AUTH: iam needs TRIBUTARY_DATABASE_URL, or TRIBUTARY_OWNER_URL for operators")
        return None
    runtime = _target(settings, "database_url")
    replica = _target(settings, "reader_url")
    owners = _target(settings, "owner_url")
    # The database URL's login is the runtime's, or a function's, where there is another one, the owner's, beside it or where a
    # token logs it in: a pooler lets no role be assumed. Then it is taken as it is, but not for the owner's own.
    as_it_is = by_token or (owners is not None and runtime is not None and _user(owners) != _user(runtime))
    steps: dict[str, Any] = {"lesser": True} if as_it_is else {"assume": RUNTIME}
    return Logins(
        runtime=runtime and replace(runtime, **steps),
        replica=replica and replace(replica, **steps, read_only=True, connect_timeout_s=READER_TIMEOUT_S),
        owners=owners or (None if by_token else runtime),
    )


def _target(settings: Settings, name: str) -> Target | None:
    url: str | None = getattr(settings, name)
    if url is None:
        return None
    setting = variable_of(name) + (f" of the cell '{settings.cell}'" if settings.cell else "")
    parts_of(setting, url)
    return Target(url=url, setting=setting, password=_password(settings, name, url))


def _user(target: Target) -> str | None:
    return parts_of(target.setting or "", target.url).get("user")


def _password(settings: Settings, name: str, url: str) -> Callable[[], str] | None:
    if settings.database_auth == "password":
        return None
    from tributary.service.tokens import token_for

    return token_for(variable_of(name), url, region=settings.database_region)
