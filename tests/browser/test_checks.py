"""The checks that every page goes through: each passes a sound page, and fails one with the fault that it is there for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import audit, findings
from tests.browser.hostile import ELSEWHERE, HOSTILE, assert_inert
from tests.browser.keyboard import assert_reachable
from tests.browser.layout import assert_fits, assert_no_shift
from tests.browser.serving import Leaves, Reply, leaf, served
from tests.browser.tabs import Tabs
from tests.browser.watching import Kind, watch_of
from tests.browser.weight import assert_light, weight

Show = Callable[[Leaves], Page]

FORM = """<form><label>Word <input name="word"></label><label><input type="radio" name="side" value="a">a</label>
<label><input type="radio" name="side" value="b">b</label><button>Send</button><button disabled>Not yet</button></form>
<details><summary>More</summary><a href="/more">hidden</a></details><p><a href="/">Home</a></p>"""


def test_sound_page_passes_all_checks(show: Show) -> None:
    page = show(leaf(FORM, style="body { color: #111; background: #fff }"))
    audit(page)
    assert_no_shift(page)
    assert_fits(page)
    assert_reachable(page)
    assert_light(page)
    assert_inert(page)


def test_what_axe_finds_fails_with_rule_place_and_remedy_under_a_strict_policy_and_minor_things_fail_nothing(show: Show) -> None:
    page = show(leaf('<h4>Odd</h4><input id="nameless"><p id="pale">pale</p>', style="#pale { color: #bbb; background: #fff }"))
    with pytest.raises(AssertionError) as failure:
        audit(page)
    assert page.evaluate("typeof axe") == "undefined"
    told = str(failure.value)
    assert "label (critical)" in told
    assert "#nameless: Fix any of the following" in told
    assert "color-contrast (serious)" in told
    assert "#pale: Fix" in told
    assert "heading-order" in {one.rule for one in findings(page)}
    assert "heading-order" not in told


def test_page_that_moves_by_itself_fails_with_what_moved(show: Show) -> None:
    late = "requestAnimationFrame(() => requestAnimationFrame(() => { document.body.style.paddingTop = '200px' }))"
    page = show(leaf('<p id="low">low</p>', script=late))
    page.wait_for_function("document.body.style.paddingTop")
    with pytest.raises(AssertionError, match=r"moved:\n  by 0\.\d+: .*(body|main|h1|p#low)"):
        assert_no_shift(page)


def test_page_that_is_too_wide_for_a_phone_fails_with_what_makes_it_so_unless_it_scrolls_in_a_box_of_its_own(show: Show) -> None:
    page = show(
        leaf(
            '<div id="box"><p id="wide">wide</p></div>',
            style="#wide { width: 600px } .held { overflow-x: auto } .apart p { position: fixed }",
        )
    )
    assert_fits(page, (1440,))
    with pytest.raises(AssertionError, match=r"px too wide at 375 px, by: p#wide"):
        assert_fits(page)
    page.evaluate("document.getElementById('box').className = 'held'")
    assert_fits(page)
    page.evaluate("document.getElementById('box').className = 'apart'")
    with pytest.raises(AssertionError, match=r"at 375 px shows only a part of: p#wide"):
        assert_fits(page)


def test_control_that_the_keyboard_does_not_reach_or_show_fails_with_which(show: Show) -> None:
    page = show(
        leaf(
            '<button tabindex="-1">Out</button><div role="button">Never</div><a href="/" id="none">Bare</a>'
            '<a href="/" id="clear">Clear</a><button id="ring">Ring</button><button>Plain</button>',
            style="#none:focus { outline: none } #clear:focus { outline: 2px solid transparent }"
            " #ring:focus { outline: none; box-shadow: 0 0 0 3px #00f }",
        )
    )
    with pytest.raises(AssertionError) as failure:
        assert_reachable(page)
    _, *told = str(failure.value).splitlines()
    assert [line.strip() for line in told] == [
        'is not reached: <button tabindex="-1">Out</button>',
        'is not reached: <div role="button">Never</div>',
        'shows nothing when it has the focus: <a href="/" id="none">Bare</a>',
        'shows nothing when it has the focus: <a href="/" id="clear">Clear</a>',
    ]


def test_weight_counts_what_comes_with_the_page_cached_or_not_and_too_much_fails_with_what_weighs(show: Show) -> None:
    replies = leaf("", style="/*" + "x" * 9000 + "*/", script="0;").replies
    cached = {name: Reply(body=one.body, kind=one.kind, headers={"cache-control": "max-age=9"}) for name, one in replies.items()}
    page = show(Leaves(cached))
    sizes = {address.rpartition("/")[2]: size for address, size in weight(page).items()}
    assert {"", "leaf.css", "leaf.js"} <= sizes.keys()
    assert 9000 < sizes["leaf.css"] < 9600
    with pytest.raises(AssertionError, match=r"more than 9000:[\s\S]* \d+ http.*/leaf.css"):
        assert_light(page, 9000)


def effects(browser: Browser, bodies: Mapping[str, str]) -> dict[str, str]:
    """Returns what `assert_inert` says of pages with these bodies; what else goes wrong in them is no matter."""
    app = Leaves({path: reply for name, body in bodies.items() for path, reply in at(f"/{name}", leaf(body)).items()})
    told: dict[str, str] = {}
    with served(app) as url:
        tabs = Tabs(browser)
        page = tabs.open(url)
        for name in bodies:
            page.goto(f"/{name}")
            watch_of(page).troubles.clear()  # of the one before, and what Chromium itself kept from taking effect here
            try:
                assert_inert(page)
            except AssertionError as effect:
                told[name] = str(effect)
        tabs.close()
    return told


def at(path: str, app: Leaves) -> dict[str, Reply]:
    return {path if name == "/" else name: reply for name, reply in app.replies.items()}


def test_hostile_text_that_is_put_into_a_page_as_markup_is_seen(browser: Browser) -> None:
    markup = ("script", "script_end", "handler", "htmx", "frame", "form", "comment", "style", "lines")
    bodies = {name: f"<p>before {HOSTILE[name]} after</p>" for name in markup}
    bodies["entity"] = f"<p>{HOSTILE['entity'].replace('&lt;', '<').replace('&gt;', '>')}</p>"  # unescaped once too often
    assert effects(browser, bodies).keys() == bodies.keys()


def test_hostile_value_that_takes_effect_in_its_place_is_seen(browser: Browser) -> None:
    places = {
        "data-pwned is an attribute": f'<img alt="x" src="/leaf.svg" title="{HOSTILE["attribute_end"]}">',
        "href leads astray": f'<a href="{HOSTILE["javascript_url"]}">x</a>',
        "href leads astray ": f'<a href="{ELSEWHERE}">the runbook</a>',
        "style is an attribute": f'<p style="color: {HOSTILE["style_value"]}">x</p>',
        "a template engine read it": "<p>pwned49</p>",
        "it turns the text around it": f"<p>Refund <b>{HOSTILE['right_to_left']}</b> at once</p>",
    }
    told = effects(browser, {str(number): body for number, body in enumerate(places.values())})
    for number, words in enumerate(places):
        assert words.strip() in told[str(number)]


def test_script_that_ran_and_the_dialog_that_it_opened_are_seen(show: Show) -> None:
    page = show(leaf("", script="window.pwned = 1; alert('pwned')"))
    watch_of(page).expect(Kind.DIALOG, "pwned")
    with pytest.raises(AssertionError, match=r"its script ran\n  dialog: alert: pwned"):
        assert_inert(page)


def test_hostile_texts_that_are_escaped_and_isolated_are_inert(show: Show) -> None:
    assert_inert(show(leaf("".join(f"<p>It says <bdi>{escape(text)}</bdi> here</p>" for text in HOSTILE.values()))))
