"""The error tree: each error has a code of its own, words for a user, and keeps both on its way between processes."""

from __future__ import annotations

import pickle
import re

import pytest

from tests.unit.core_made import agent
from tributary.core import errors
from tributary.core.agent import Role
from tributary.core.errors import (
    BadSetting,
    Forbidden,
    InvalidRequest,
    ModelFailed,
    SecretUnread,
    TributaryError,
    Unauthenticated,
    UnknownCell,
)
from tributary.edges.lambda_http.problems import problem_of


def every_error() -> list[type[TributaryError]]:
    """Returns all classes of the tree but its root."""
    found: list[type[TributaryError]] = []
    waiting = TributaryError.__subclasses__()
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        if one.__module__ == errors.__name__:
            found.append(one)
    return found


def _made(kind: type[TributaryError]) -> TributaryError:
    if kind is InvalidRequest:
        return InvalidRequest("text", "must not be empty")
    return UnknownCell("eu") if kind is UnknownCell else kind()


@pytest.mark.parametrize(
    ("detail", "variable"),
    [
        ("TRIBUTARY_CONNECTIONS: must be a whole number (it is 'many')", "TRIBUTARY_CONNECTIONS"),
        ("TRIBUTARY_DATABASE_URL, as the secret has it: must begin with postgresql://", "TRIBUTARY_DATABASE_URL"),
        ("TRIBUTARY_READER_URL of the cell 'eu': must have a port", "TRIBUTARY_READER_URL"),
        ("AWS_REGION: is needed", "AWS_REGION"),
        ("Bedrock: the region is of no use", None),
        ("the API key of Jev must be printable", None),
    ],
)
def test_a_bad_setting_names_the_variable_that_it_begins_with(detail: str, variable: str | None) -> None:
    assert BadSetting(detail).variable == variable


def test_a_secret_that_cannot_be_read_is_not_told_as_the_database() -> None:
    told = problem_of(SecretUnread("TRIBUTARY_SECRET_ARN: Secrets Manager cannot be reached"), operation=None)
    assert told.code == "unavailable"
    assert "secret that holds the server's settings" in told.detail
    assert "atabase" not in told.title + told.detail
    assert "TRIBUTARY_SECRET_ARN" not in told.detail


def test_codes_are_stable_words_and_no_two_errors_share_one() -> None:
    codes = [kind.code for kind in every_error() if kind.__base__ is TributaryError]
    assert len(codes) == len(set(codes)) == 16
    for parent in (ModelFailed, Unauthenticated):
        assert {kind.code for kind in parent.__subclasses__()} == {parent.code}, "whose kinds are told apart within"
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", code) for code in codes)


def test_the_drawing_of_the_tree_shows_each_error_with_its_code() -> None:
    drawn = dict(re.findall(r"[├└]── (\w+) +(\w+)", errors.__doc__ or ""))
    assert drawn == {kind.__name__: kind.code for kind in every_error()}


@pytest.mark.parametrize("kind", every_error())
def test_an_error_speaks_for_itself_when_nothing_more_is_known(kind: type[TributaryError]) -> None:
    error = _made(kind)
    assert str(error) == error.detail
    assert kind.__doc__
    assert "\n" not in kind.__doc__
    if kind not in (InvalidRequest, UnknownCell):
        assert error.detail == kind.__doc__
        assert kind("more").detail == "more"


@pytest.mark.parametrize("kind", [TributaryError, *every_error()])
def test_an_error_survives_being_sent_to_another_process(kind: type[TributaryError]) -> None:
    error = _made(kind)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert vars(back) == vars(error)
    assert str(back) == str(error)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        (Role.READER, {Role.READER}),
        (Role.WRITER, {Role.READER, Role.WRITER}),
        (Role.CURATOR, {Role.READER, Role.WRITER, Role.CURATOR}),
    ],
)
def test_a_role_may_do_what_the_ones_before_it_may_and_a_refusal_names_both(role: Role, allowed: set[Role]) -> None:
    principal = agent(role)
    for needed in Role:
        if needed in allowed:
            principal.require(needed)
        else:
            with pytest.raises(Forbidden, match=f"is {role}; this needs {needed}"):
                principal.require(needed)
