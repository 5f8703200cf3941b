"""Nothing that somebody typed is lost: whatever keeps a form from being acted on, the page that answers has what it said."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import httpx2
import pytest

from tests.conftest import new_database
from tests.dashboards import Markup, Visitor, visiting
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Principal, Role, SignedIn
from tributary.core.curation import Mistake
from tributary.core.errors import NotMigrated
from tributary.core.ids import Prefix, show
from tributary.edges.dashboard.page import CHANGE_S, READ_S
from tributary.edges.dashboard.port import FrontDoor
from tributary.store.patience import left_s

TYPED = "Eighty was measured </bdi><script>alert(1)</script>"
WORDS = {"text": TYPED, "rationale": "since\u4e00 Tuesday", "situation": "on call", "ref": "run:9"}
CONTEST = {**WORDS, "how": "observed", "confidence": "0.7"}


@pytest.fixture(scope="module")
def database(server_url: str, template: str) -> Iterator[str]:
    with new_database(server_url, template) as url:
        yield url


@pytest.fixture
def tribal(database: str) -> Iterator[Tribal]:
    with open_tribal(database, name=f"tribe-{uuid4().hex[:8]}") as opened:
        yield opened


class Behind:
    """A door that does what the memory does, until it is told to fail; and notes how long whoever asks it would wait."""

    def __init__(self, tribal: Tribal) -> None:
        self.memory = tribal.memory
        self.away = False
        self.waits: list[float] = []

    def __getattr__(self, name: str) -> object:
        if self.away and name != "session":
            raise NotMigrated  # one of those that the SDK does not try again
        return getattr(self.memory, name)

    def session(self, secret: str) -> Principal:
        self.waits.append(left_s())
        return self.memory.session(secret)

    def sign_in(self, token: str, *, source: str) -> SignedIn:
        self.waits.append(left_s())
        return self.memory.sign_in(token, source=source)

    def sign_out(self, secret: str) -> None:
        self.waits.append(left_s())
        self.memory.sign_out(secret)


def behind(tribal: Tribal) -> tuple[Behind, FrontDoor]:
    door = Behind(tribal)
    return door, door  # type: ignore[return-value]  # what it does not have is the memory's


def lesson(tribal: Tribal) -> str:
    found = tribal.learn(tribal.agent(f"author-{uuid4().hex[:8]}"), "The port is 70").lesson
    assert found is not None
    return f"/lessons/{show(Prefix.LESSON, found.lesson_id)}"


def form_of(visitor: Visitor, page: str) -> dict[str, str]:
    shown = visitor.markup(page)
    return {name: shown.value(name) for name in ("csrf", "key")}


def post(visitor: Visitor, path: str, form: dict[str, str], **headers: str) -> httpx2.Response:
    return visitor.client.post(path, data=form, headers=headers, follow_redirects=False)


def assert_kept(response: httpx2.Response, status: int, *texts: str) -> None:
    assert response.status_code == status, response.text
    shown = Markup(response.text)
    for text in texts:
        assert text in shown.words, text
    assert "script" not in {tag for tag, one in shown.tags if "src" not in one}
    # A link back to the address of a form leads nowhere: it takes no GET.
    assert not [one for tag, one in shown.tags if tag == "a" and one.get("href") == ""]


def test_a_session_that_ended_while_a_form_was_filled_in_gives_back_what_was_typed(tribal: Tribal) -> None:
    page = lesson(tribal)
    with visiting(tribal) as visitor:
        form = form_of(visitor, page) | CONTEST
        visitor.client.post("/sign-out", data=form, follow_redirects=False)
        late = post(visitor, f"{page}/contest", form)
        assert_kept(late, 401, *WORDS.values(), "Your session is over", "Sign in")
        assert ("a", "/sign-in") in [(tag, one.get("href")) for tag, one in Markup(late.text).tags]
        assert form["csrf"] not in late.text
        assert post(visitor, f"{page}/confirm", {"csrf": form["csrf"]}).status_code == 303
        foreign = post(visitor, f"{page}/contest", form, **{"sec-fetch-site": "cross-site"})
    assert TYPED not in Markup(foreign.text).words, "no other site puts words on our pages"
    assert tribal.status_counts() == {"active": 1}


def test_a_form_of_an_earlier_session_or_of_a_role_that_was_taken_gives_back_what_was_typed(tribal: Tribal) -> None:
    page = lesson(tribal)
    with visiting(tribal, Role.WRITER) as visitor:
        form = form_of(visitor, page) | CONTEST
        assert_kept(post(visitor, f"{page}/contest", form | {"csrf": "0" * 64}), 403, *WORDS.values())
        tribal.rows("UPDATE tributary.agent SET role = 'reader' WHERE name LIKE 'writer-%%'")
        assert_kept(post(visitor, f"{page}/contest", form), 403, *WORDS.values(), "Your role does not allow this")
    assert tribal.status_counts() == {"active": 1}


def test_a_memory_that_goes_away_between_page_and_form_gives_back_what_was_typed_and_claims_nothing(tribal: Tribal) -> None:
    page = lesson(tribal)
    door, front = behind(tribal)
    with visiting(tribal, door=front) as visitor:
        form = form_of(visitor, page) | CONTEST
        door.away = True
        late = post(visitor, f"{page}/contest", form)
    assert_kept(late, 503, *WORDS.values(), "Whether the form was acted on cannot be told")


def test_whoever_comes_second_gets_back_what_was_typed(tribal: Tribal) -> None:
    """To a lesson that was retired meanwhile, a case that was rejected and an action whose doubt was ended."""
    page = lesson(tribal)
    new = tribal.learn(tribal.curator, "The host is db-7")
    case = tribal.memory.curate.report(tribal.curator, new.decision_id, Mistake.HARMFUL)
    begun = tribal.memory.actions.begin(tribal.curator, "reboot", "reboot db-7", lease_s=60)
    assert begun.lease is not None
    tribal.memory.actions.fail(tribal.curator, begun.action.action_id, begun.lease, "it timed out", unsure=True)
    action = f"/actions/{show(Prefix.ACTION, begun.action.action_id)}"
    review = show(Prefix.REVIEW, case.review_id)
    with visiting(tribal) as first, visiting(tribal) as second:
        contested, rejected, happened = (form_of(second, one) for one in (page, "/reviews", action))
        post(first, f"{page}/retire", form_of(first, page) | {"cause": "wrong"})
        post(first, f"/reviews/{review}/reject", form_of(first, "/reviews"))
        post(first, f"{action}/happened", form_of(first, action) | {"rationale": "its log says so"})
        assert_kept(post(second, f"{page}/contest", contested | CONTEST), 409, *WORDS.values())
        assert_kept(post(second, f"/reviews/{review}/reject", rejected | {"reason": TYPED}), 409, TYPED)
        late = post(second, f"{action}/did-not-happen", happened | {"rationale": TYPED, "result": "17"})
        assert_kept(late, 409, TYPED, "its log says so")


def test_a_refused_form_that_is_shown_again_has_what_was_typed_once(tribal: Tribal) -> None:
    page = lesson(tribal)
    with visiting(tribal) as visitor:
        form = form_of(visitor, page) | CONTEST | {"confidence": "7"}
        refused = post(visitor, f"{page}/contest", form)
    assert refused.status_code == 400
    assert Markup(refused.text).words.count(TYPED) == 1
    assert "What you wrote was not kept" not in refused.text


def test_whatever_a_browser_lets_be_typed_is_read_so_that_a_rule_it_breaks_is_told(tribal: Tribal) -> None:
    page = lesson(tribal)
    with visiting(tribal) as visitor:
        full = {"text": "\u4e00" * 8000, "rationale": "\u4e01" * 8000, "situation": "\u4e02" * 2000, "ref": "\u4e03" * 2000}
        refused = post(visitor, f"{page}/contest", form_of(visitor, page) | CONTEST | full)
    assert_kept(refused, 400, full["text"], full["rationale"])


def test_nothing_waits_for_a_database_longer_than_its_page_may_take(tribal: Tribal) -> None:
    door, front = behind(tribal)
    page = lesson(tribal)
    with visiting(tribal, door=front) as visitor:
        form = form_of(visitor, page)
        post(visitor, f"{page}/confirm", form)
        post(visitor, "/sign-out", form)
    assert len(door.waits) == 4
    assert all(waited <= most for waited, most in zip(door.waits, (READ_S, READ_S, CHANGE_S, READ_S), strict=True)), door.waits
