"""Which cell a token names, on its way from its maker to the function that serves it."""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.contract.samples import Context, event_of
from tests.contract.stand_in import READER, StandIn
from tributary.access import cell_of, new_token, token_hash
from tributary.access.tokens import authenticate
from tributary.core.agent import Principal, Role
from tributary.core.cells import is_cell_name
from tributary.core.errors import Corrupt, Unauthenticated, UnknownCell
from tributary.core.secrets import secrets_in
from tributary.edges.lambda_http.app import App
from tributary.edges.lambda_http.authorizer import authorize
from tributary.edges.lambda_http.principal import from_context, to_context
from tributary.store import Database, Target

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,15}", fullmatch=True)
SECRETS = st.text(string.ascii_letters + string.digits + "_-", min_size=43, max_size=43)


@given(name=NAMES | st.none(), secret=SECRETS)
@example(name="eu", secret="_" * 43)
@example(name=None, secret="eu_" + "a" * 40)
@example(name=None, secret="a_" * 21 + "-")
@example(name="a-", secret="-" * 43)
def test_a_token_names_the_cell_that_it_was_made_with_whatever_its_secret(name: str | None, secret: str) -> None:
    assert cell_of(f"trb_{secret}" if name is None else f"trb_{name}_{secret}") == name


@given(text=st.text(string.ascii_letters + string.digits + "_-", max_size=70).map("trb_".__add__))
def test_a_text_is_one_token_or_none(text: str) -> None:
    try:
        cell = cell_of(text)
    except Unauthenticated:
        return
    rest = text.removeprefix("trb_") if cell is None else text.removeprefix(f"trb_{cell}_")
    assert len(rest) == 43
    assert cell is None or is_cell_name(cell)


@pytest.mark.parametrize("cell", [None, "eu", "a-very-long-one1"])
def test_a_new_token_carries_the_name_of_its_cell_and_is_known_for_a_secret(cell: str | None) -> None:
    made = {new_token(cell) for _ in range(50)}
    assert len(made) == 50
    assert {cell_of(one) for one in made} == {cell}
    assert all(secrets_in(f"use {one} for it") for one in made)
    assert all(re.fullmatch(r"trb_([a-z0-9-]+_)?[A-Za-z0-9_-]{43}", one) for one in made)


def test_another_cells_name_in_a_token_makes_it_another_token() -> None:
    token = new_token("eu")
    forms = {token, token.replace("trb_eu_", "trb_us_", 1), token.replace("trb_eu_", "trb_", 1)}
    assert len({token_hash(one) for one in forms}) == 3


@pytest.mark.parametrize("name", ["", "1a", "-a", "EU", "eu_west", "a" * 17, "eü", "eu\n", "eu."])
def test_what_cannot_name_a_cell_makes_no_token(name: str) -> None:
    assert not is_cell_name(name)
    with pytest.raises(Unauthenticated, match="starts with 'trb_'"):
        cell_of(f"trb_{name}_{'a' * 43}")


@pytest.mark.parametrize("own", [None, "us"])
def test_a_token_of_another_cell_is_refused_and_no_database_is_asked(own: str | None) -> None:
    def nowhere() -> Target:
        raise AssertionError("the database was asked")

    with pytest.raises(UnknownCell, match="the cell 'eu', which this server does not know"):
        authenticate(Database(nowhere), new_token("eu"), cell=own)


# the authorizer's context


def of_cell(cell: str | None) -> Principal:
    return Principal(tribe_id=UUID(int=1), agent_id=UUID(int=2), name="a", role=Role.READER, cell=cell)


@pytest.mark.parametrize("cell", [None, "eu"])
def test_a_principal_keeps_its_cell_on_the_way_to_the_function(cell: str | None) -> None:
    context = to_context(of_cell(cell))
    assert ("cell" in context) == (cell is not None)
    assert from_context(context) == of_cell(cell)


@pytest.mark.parametrize("cell", ["", "EU", "eu west", 7, ["eu"]])
def test_a_context_whose_cell_cannot_be_one_is_refused(cell: object) -> None:
    context: Mapping[str, object] = {**to_context(of_cell(None)), "cell": cell}
    with pytest.raises(Corrupt, match="cannot be a cell"):
        from_context(context)


def test_a_context_that_names_an_unknown_cell_is_answered_401_and_reaches_no_memory() -> None:
    memory = StandIn()
    event = event_of("POST", "/v1/recall", principal=READER, body=b'{"query": "q"}')
    event["requestContext"]["authorizer"]["lambda"]["cell"] = "mars"
    response = App("recall", lambda: memory)(event, Context())
    assert response["statusCode"] == 401
    assert "the cell 'mars', which this server does not know" in response["body"]
    assert memory.calls == []


def test_the_authorizer_leaves_the_refusal_of_an_unknown_cell_to_the_function() -> None:
    memory = StandIn(failure_of={"authenticate": UnknownCell("mars")})
    answer: dict[str, Any] = authorize({"headers": {"authorization": "Bearer whatever"}}, lambda: memory)
    assert answer == {"isAuthorized": True, "context": {"error": "unauthenticated"}}
