"""What the incident agent works with, as the settings choose it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tributary.access import Turns
from tributary.core.agent import Principal
from tributary.core.errors import BadSetting
from tributary.core.ports import LanguageModel
from tributary.core.responding import Allowed, Ceilings
from tributary.models.installed import need
from tributary.service.cell_settings import places_of
from tributary.service.language_models import region
from tributary.service.settings import PREFIX, Settings

_RDS = (".rds.amazonaws.com", ".rds.amazonaws.com.cn")


@dataclass(frozen=True, kw_only=True)
class LiveSystems:
    """Where Amazon RDS is looked at, and what may be changed there. `url` replaces the region's endpoint.

    `own` names what the memory itself stands on there, which may not be changed whatever is allowed.
    """

    region: str
    url: str | None
    allowed: tuple[Allowed, ...]
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Responding:
    """`model` is None where no incident agent is set up, `live` where it has no tools for live systems."""

    model: LanguageModel | None
    turns: Turns
    live: LiveSystems | None
    charged: Callable[[Principal], AbstractContextManager[None]]
    """Charges a caller's tribe for the models that the block calls."""


def ceilings_of(settings: Settings) -> Ceilings:
    return Ceilings(
        turns_per_minute=settings.responder_turns_per_minute,
        turns_per_day=settings.responder_turns_per_day,
        usd_per_turn=settings.responder_usd_per_turn,
        usd_per_day=settings.responder_usd_per_day,
    )


def live_systems(settings: Settings) -> LiveSystems | None:
    """Returns what the incident agent may do outside of the memory; raises BadSetting, naming the variable."""
    variable = f"{PREFIX}RESPONDER_RDS"
    if settings.responder_rds == "off":
        for name in ("responder_allow", "responder_rds_url"):
            if getattr(settings, name):
                raise BadSetting(f"{PREFIX}{name.upper()}: is set, but {variable} is off; set both")
        return None
    if settings.responder is None:
        raise BadSetting(f"{variable}: is set without {PREFIX}RESPONDER; set both")
    need("boto3", library="boto3", extra="aws", by=f"{variable}: {settings.responder_rds}")
    return LiveSystems(
        region=region(settings, variable),
        url=settings.responder_rds_url,
        allowed=tuple(Allowed.parse(one) for one in settings.responder_allow),
        own=frozenset(_own(settings)),
    )


def _own(settings: Settings) -> Iterator[str]:
    """Yields the instances and clusters of RDS that the URLs of databases name, of every cell: their hosts' first labels."""
    places = places_of(settings.database_url, settings.reader_url, settings.owner_url)
    for host, _, _ in places.union(*(one.places for one in settings.cells)):
        for one in host.split(","):
            name, _, rest = one.partition(".")
            if rest.endswith(_RDS):
                yield name
