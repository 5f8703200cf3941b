"""How the settings map cells to databases: as `name=url` pairs, or as JSON where a cell has more than one URL."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError
from pydantic_settings import NoDecode

from tributary.core.cells import CELL_RULE, is_cell_name
from tributary.service.database_urls import place_of

Place = tuple[str, str, str]
_URLS = ("database_url", "reader_url", "owner_url")
_PAIR_RULE = "must look like name=postgresql://...; a comma within a URL is written %2C"
_JSON_RULE = "must be pairs name=postgresql://..., separated by commas, or one JSON object by name of {}"


def is_postgres(value: object) -> bool:
    """Tells whether this begins as the URL of a PostgreSQL database does."""
    return isinstance(value, str) and value.startswith(("postgresql://", "postgres://"))


class CellDatabase(BaseModel):
    """One further cell. Its URLs mean what the settings of the same names mean for the own database."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str
    database_url: str = Field(repr=False)
    reader_url: str | None = Field(default=None, repr=False)
    owner_url: str | None = Field(default=None, repr=False)

    @property
    def places(self) -> frozenset[Place]:
        return places_of(self.database_url, self.reader_url, self.owner_url)


def places_of(*urls: str | None) -> frozenset[Place]:
    """Returns where the URLs of one cell lead; no two cells have one in common."""
    return frozenset(place_of(url) for url in urls if url is not None)


def _cell_name(value: str) -> str:
    if not is_cell_name(value):
        raise _wrong(CELL_RULE)
    return value


def _cells(value: object) -> object:
    """Reads either form. What it refuses it names by place, since a misplaced comma makes a name of what is a password."""
    if not isinstance(value, str):
        return value
    found = tuple(_of_json(value) if value.lstrip().startswith("{") else _of_pairs(value))
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise _wrong(f"names the cell '{name}' twice")
    taken: set[Place] = set()
    for one in found:
        if not taken.isdisjoint(one.places):
            raise _wrong(f"gives the cell '{one.name}' the same database as another one")
        taken |= one.places
    return found


def _of_pairs(text: str) -> Iterator[CellDatabase]:
    for number, pair in enumerate(filter(None, map(str.strip, text.split(","))), start=1):
        name, _, url = pair.partition("=")
        if not is_postgres(url):
            raise _wrong(f"cell {number} {_PAIR_RULE}")
        yield _cell(number, name, {"database_url": url})


def _of_json(text: str) -> Iterator[CellDatabase]:
    try:
        cells = json.loads(text, object_pairs_hook=list)  # so that a name that comes twice is seen
    except (ValueError, RecursionError):
        raise _wrong(_JSON_RULE.format(", ".join(_URLS))) from None
    for number, (name, urls) in enumerate(cells, start=1):
        if not _is_object(urls):
            raise _wrong(f"cell {number} must be an object of {', '.join(_URLS)}")
        if len(dict(urls)) < len(urls) or not set(dict(urls)) <= set(_URLS):
            raise _wrong(f"cell {number} may have {', '.join(_URLS)}, each once, and nothing else")
        yield _cell(number, name, dict(urls))


def _is_object(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, tuple) for one in value)


def _cell(number: int, name: str, urls: Mapping[str, object]) -> CellDatabase:
    if not is_cell_name(name):
        raise _wrong(f"the name of cell {number} {CELL_RULE}")
    if "database_url" not in urls:
        raise _wrong(f"cell {number} needs a database_url")
    for key, url in urls.items():
        if not is_postgres(url):
            raise _wrong(f"the {key} of cell {number} must begin with postgresql://")
    return CellDatabase.model_validate({"name": name, **urls})


def check_apart(cells: Sequence[CellDatabase], own: str | None, own_places: Set[Place]) -> None:
    """Raises PydanticCustomError when a further cell has the name, or the database, of the own one."""
    for one in cells:
        if one.name == own:
            raise _wrong(f"names the cell '{one.name}', which is the own one's name; it has only further ones")
        if not one.places.isdisjoint(own_places):
            raise _wrong(f"gives the cell '{one.name}' the own database")


def _wrong(rule: str) -> PydanticCustomError:
    return PydanticCustomError("cells", "{rule}", {"rule": rule})


CellName = Annotated[str, AfterValidator(_cell_name)]
CellDatabases = Annotated[tuple[CellDatabase, ...], NoDecode, BeforeValidator(_cells)]
