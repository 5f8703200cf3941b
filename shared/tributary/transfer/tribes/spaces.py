"""The embedding spaces that a restored tribe's vectors lie in: those of the database, or made as the export describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import psycopg
from psycopg.types.json import Jsonb

from tributary.core.errors import WrongStanding
from tributary.spaces import alike
from tributary.store import statement
from tributary.transfer.tribes.form import Row, about_the_data, refuse

_DEFINITION = {"name": str, "model": str, "pooling": str, "windowing": str, "quantisation": str, "dimension": int}


class Spaces:
    """The spaces that an export brought along so far, by name, with their numbers in this database."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection
        self.numbers: dict[str, int] = {}

    def take(self, row: Row) -> None:
        """Finds a space or makes it. Raises InvalidRequest, and WrongStanding when the one of this name is another."""
        definition, references = _read(row)
        name = definition["name"]
        if name in self.numbers:
            refuse(row.number, f"space: '{name}' is there twice")
        try:
            with self._connection.transaction():
                number = self._number(row, definition)
                known = self._kept(name, references)
            fits = all(alike(vector, known[sentence]) for sentence, vector in references.items() if sentence in known)
        except ValueError:
            refuse(row.number, "space.references: must be vectors by their sentences")
        except psycopg.Error as error:
            if not about_the_data(error):
                raise
            refuse(row.number, f"space: the database refuses it (SQLSTATE {error.sqlstate})")
        if not fits:
            raise WrongStanding(
                f"the space '{name}' of this database was begun with another embedder than the export's: vectors of the two"
                " mean different things (docs/spaces.md)"
            )
        self.numbers[name] = number

    def _number(self, row: Row, definition: Mapping[str, Any]) -> int:
        """Returns the number of a space; one that is there is not locked against whoever begins to use it meanwhile."""
        found = self._connection.execute(
            statement("transfer", "space"), {"name": definition["name"], "definition": Jsonb(dict(definition))}
        ).fetchone()
        if found is None:
            found = self._connection.execute(statement("spaces", "ensure"), definition).fetchone()
            return cast(tuple[int], found)[0]
        if not found[1]:
            raise WrongStanding(f"line {row.number}: the space '{definition['name']}' is defined otherwise in this database")
        return cast(int, found[0])

    def _kept(self, name: str, references: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the reference vectors that the database has of a space by now."""
        row = self._connection.execute(
            statement("spaces", "keep_references"),
            {"name": name, "sentences": list(references), "vectors": list(references.values())},
        ).fetchone()
        return cast(tuple[Mapping[str, str]], row)[0]


def _read(row: Row) -> tuple[dict[str, Any], dict[str, str]]:
    values = dict(row.values)
    references = values.pop("references", None)
    if set(values) != set(_DEFINITION) or any(type(values[key]) is not kind for key, kind in _DEFINITION.items()):
        refuse(row.number, f"space: must say {', '.join(_DEFINITION)} and the references, and nothing else")
    if not isinstance(references, dict) or not all(isinstance(one, str) for one in references.values()):
        refuse(row.number, "space.references: must be vectors by their sentences")
    return values, references
