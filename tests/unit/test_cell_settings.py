"""Which databases the settings name by cell: each mistake stops the start and names the variable, and no password is shown."""

from __future__ import annotations

import json

import pytest

from tests.unit.test_settings import PASSWORD, URL, refusal
from tributary.core.errors import BadSetting, NotFound, Unavailable
from tributary.service import Settings, load_settings, open_cells

EU, US = URL.replace("db.", "eu."), URL.replace("db.", "us.")


def test_both_forms_name_the_same_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_CELLS", f" eu={EU}, us={US},")
    by_pairs = load_settings()
    monkeypatch.setenv("TRIBUTARY_CELLS", json.dumps({"eu": {"database_url": EU}, "us": {"database_url": US}}))
    assert load_settings().cells == by_pairs.cells
    assert by_pairs.cell_names == (None, "eu", "us")


def test_the_settings_of_a_cell_take_its_urls_alone_and_all_else_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_CELL", "home")
    for name in ("DATABASE", "READER", "OWNER"):
        monkeypatch.setenv(f"TRIBUTARY_{name}_URL", URL)
    monkeypatch.setenv("TRIBUTARY_CONNECTIONS", "3")
    monkeypatch.setenv(
        "TRIBUTARY_CELLS",
        json.dumps({"eu": {"database_url": EU}, "us": {"database_url": US, "reader_url": f"{US}?r", "owner_url": f"{US}?o"}}),
    )
    every = load_settings()
    assert every.cell_names == ("home", "eu", "us")
    eu, us = every.in_cell("eu"), every.in_cell("us")
    assert (eu.cell, eu.database_url, eu.reader_url, eu.owner_url) == ("eu", EU, None, None)
    assert (us.cell, us.database_url, us.reader_url, us.owner_url) == ("us", US, f"{US}?r", f"{US}?o")
    assert every.in_cell(None) == every.in_cell("home")
    assert {(one.connections, one.cell_names) for one in (eu, us)} == {(3, ("eu",)), (3, ("us",))}
    with pytest.raises(NotFound, match="no cell 'mars'; TRIBUTARY_CELL and TRIBUTARY_CELLS name 'home', 'eu', 'us'"):
        every.in_cell("mars")


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (f"eu={EU},eu={US}", "names the cell 'eu' twice"),
        (json.dumps({"eu": {"database_url": EU}})[:-1] + f', "eu": {{"database_url": "{US}"}}}}', "names the cell 'eu' twice"),
        (f"home={EU}", "names the cell 'home', which is the own one's name"),
        (f"eu={URL}", "gives the cell 'eu' the own database"),
        (f"eu={EU},us={EU}", "gives the cell 'us' the same database as another one"),
        *(
            (f"eu={EU},us={again}", "gives the cell 'us' the same database as another one")
            for again in (
                EU.replace("postgresql", "postgres"),
                EU.replace("example", "EXAMPLE"),
                EU.replace("example", "example:5432"),
            )
        ),
        (json.dumps({"eu": {"database_url": EU, "reader_url": URL}}), "gives the cell 'eu' the own database"),
        (json.dumps({"eu": {"database_url": EU, "owner_url": f"{URL}?sslmode=require"}}), "gives the cell 'eu' the own database"),
        (json.dumps({"eu": {"database_url": EU}, "us": {"database_url": US, "reader_url": EU}}), "gives the cell 'us' the same"),
        (f"EU={EU}", "the name of cell 1 must be 1 to 16 lower case letters"),
        (f"eu={EU},{'a' * 17}={US}", "the name of cell 2 must be 1 to 16 lower case letters"),
        (EU, "cell 1 must look like name=postgresql://"),
        (f"eu=https://user:{PASSWORD}@eu.example", "cell 1 must look like name=postgresql://"),
        (
            f"eu=postgresql://owner:a,b={PASSWORD}@eu.example/t",
            "cell 2 must look like name=postgresql://...; a comma within a URL",
        ),
        (f'{{"eu": "{EU}"}}', "cell 1 must be an object of database_url, reader_url, owner_url"),
        (
            f'{{"eu": {{"database_url": "{EU}", "password": "{PASSWORD}"}}}}',
            "cell 1 may have database_url, reader_url, owner_url",
        ),
        (f'{{"eu": {{"database_url": "{EU}", "database_url": "{US}"}}}}', "each once"),
        (f'{{"eu": {{"owner_url": "{EU}"}}}}', "cell 1 needs a database_url"),
        (
            f'{{"eu": {{"database_url": "{EU}", "reader_url": "{PASSWORD}"}}}}',
            "the reader_url of cell 1 must begin with postgresql://",
        ),
        (f'{{"eu": {{"database_url": ["{EU}"]}}}}', "the database_url of cell 1 must begin with postgresql://"),
        (f'{{"eu": {PASSWORD}', "must be pairs name=postgresql://"),
        ("{" * 100_000, "must be pairs name=postgresql://"),
    ],
)
def test_a_mistake_is_refused_by_variable_and_rule_and_shows_no_password(
    monkeypatch: pytest.MonkeyPatch, given: str, rule: str
) -> None:
    said = refusal(monkeypatch, TRIBUTARY_CELL="home", TRIBUTARY_DATABASE_URL=URL, TRIBUTARY_CELLS=given)
    assert said.startswith("TRIBUTARY_CELLS: ")
    assert rule in said
    assert PASSWORD not in said


def test_what_is_wrong_with_a_further_cells_login_is_told_when_the_cells_are_opened() -> None:
    for url in (f"postgresql://u:{PASSWORD}@h:abc/x", f"postgresql://u:{PASSWORD}@h/%zz"):
        with pytest.raises(BadSetting, match="TRIBUTARY_CELLS: cell 'us': TRIBUTARY_DATABASE_URL of the cell 'us': ") as caught:
            open_cells(Settings.model_validate({"TRIBUTARY_DATABASE_URL": URL, "cells": f"eu={EU},us={url}"}))
        assert PASSWORD not in caught.value.detail


def test_closed_cells_open_no_more() -> None:
    cells = open_cells(Settings.model_validate({"TRIBUTARY_DATABASE_URL": URL, "cells": f"eu={EU}"}))
    cells.close()
    for name in (None, "eu"):
        with pytest.raises(Unavailable, match="closed"):
            cells.named(name)


def test_a_name_that_no_token_could_carry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal(monkeypatch, TRIBUTARY_CELL="eu_west") == (
        "TRIBUTARY_CELL: must be 1 to 16 lower case letters, digits or '-', the first a letter (it is 'eu_west')"
    )


def test_a_comma_in_a_url_is_written_in_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIBUTARY_CELLS", "eu=postgresql://a%2Cb@eu.example/t")
    assert load_settings().in_cell("eu").database_url == "postgresql://a%2Cb@eu.example/t"


def test_the_urls_of_cells_are_in_no_repr() -> None:
    assert PASSWORD not in repr(Settings.model_validate({"cells": f"eu={EU}"}).cells)
