"""The table of error codes and statuses: nothing that can go wrong is missing from it."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from tests.unit.test_core_errors import every_error
from tributary.contract.problems import PROBLEMS, ProblemKind
from tributary.core import errors
from tributary.core.errors import TributaryError
from tributary.edges.lambda_http.problems import code_of

EDGE_ONLY = {"method_not_allowed", "too_large", "unsupported_media_type", "timed_out", "internal"}


def test_every_error_of_the_core_has_a_status_and_the_rest_are_the_edges_own() -> None:
    assert {kind.code for kind in every_error()} == set(PROBLEMS) - EDGE_ONLY
    assert set(PROBLEMS) > EDGE_ONLY


def test_the_root_of_the_tree_is_told_as_unexpected() -> None:
    assert TributaryError.code not in PROBLEMS
    assert code_of(TributaryError("x")) == code_of(ValueError("x")) == "internal"
    assert code_of(errors.NotFound()) == "not_found"


@pytest.mark.parametrize("kind", PROBLEMS.values(), ids=lambda kind: kind.code)
def test_a_status_is_a_known_one_and_retry_after_comes_with_those_that_pass(kind: ProblemKind) -> None:
    status = HTTPStatus(kind.status)
    assert 400 <= status < 600
    assert (kind.retry_after_s is not None) == (status in {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS})
    assert kind.retry_after_s is None or kind.retry_after_s > 0


def test_each_code_has_a_title_of_its_own() -> None:
    titles = [kind.title for kind in PROBLEMS.values()]
    assert len(titles) == len(set(titles))
    assert all(code == kind.code for code, kind in PROBLEMS.items())
