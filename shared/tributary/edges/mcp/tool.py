"""What a tool is: a name, words for the model that may call it, types for what goes in and out, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from tributary.client import Memory
from tributary.client.values import checked
from tributary.contract.route import Role

Given = TypeVar("Given", bound="Arguments")

RANK: Mapping[Role, int] = {"reader": 0, "writer": 1, "curator": 2}


class Arguments(BaseModel):
    """What a caller gives a tool. The SDK checks the values as it does for everybody; here only names and types are."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Result(BaseModel):
    """What a tool gives back as data."""

    model_config = ConfigDict(frozen=True)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool found or did: as data, and in words for a model, in which all that others wrote is fenced."""

    result: Result
    text: str


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[Given]):
    """`role` is the least that may use it. `run` gets the memory, the arguments, and an idempotency key for what it writes."""

    name: str
    title: str
    description: str
    role: Role
    arguments: type[Given]
    result: type[Result]
    run: Callable[[Memory, Given, str], Answer]
    reads_only: bool = False
    destroys: bool = False
    idempotent: bool = True
    meant: bool = False
    """Each call counts, or gives what nobody else may have: an equal one is a retry only where its caller is seen to have none
    of it yet."""

    def answer(self, memory: Memory, arguments: Mapping[str, Any], key: str) -> Answer:
        """Does what the tool is for; raises the errors of the SDK, InvalidRequest also for what does not fit."""
        given = checked(lambda: self.arguments.model_validate(dict(arguments)))
        return self.run(memory, given, key)

    def allows(self, role: Role) -> bool:
        """Tells whether an agent of that role may use it."""
        return RANK[role] >= RANK[self.role]

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        return self.arguments.model_json_schema()

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        return self.result.model_json_schema(mode="serialization")
