"""Who comes, may they, and what are they answered: all between a request and the view that answers it, without a framework.

session or public -> role -> form token -> view (over the SDK, as the visitor) -> page
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from urllib.parse import quote, urlencode

from tributary.client import Memory
from tributary.client import errors as sdk
from tributary.core import ids
from tributary.core.agent import Principal, Role
from tributary.core.clock import Now, utc_now
from tributary.core.errors import BadSetting, TributaryError, Unauthenticated, Unavailable
from tributary.edges.dashboard.cookies import SessionCookie
from tributary.edges.dashboard.forgery import FIELD, form_token, from_here, is_token
from tributary.edges.dashboard.page import CHANGE_S, READ_S, Answer, Nothing, Page, Sent, Shown
from tributary.edges.dashboard.port import OpenDoor, Setup
from tributary.edges.dashboard.problems import AWAY, FAILED, SESSION_OVER, STALE_FORM, Problem, problem_of
from tributary.edges.dashboard.rendering import Entry, Frame, Rendering
from tributary.edges.dashboard.sign_in import SIGN_IN, refusal_of, way_back
from tributary.edges.dashboard.table import MENU, SAID
from tributary.edges.dashboard.visit import Visit, Visitor
from tributary.edges.dashboard.watch import Watch
from tributary.edges.lambda_http.in_process import URL, Functions, InProcess
from tributary.edges.lambda_http.principal import to_context
from tributary.telemetry import Event, log

_WRITTEN = ("text", "situation", "ref", "rationale", "result", "reason", "note", "name")
"""The fields of forms that people write something into."""
_SHORTEST_S = 0.001
_NO_TOKEN = "none"  # noqa: S105  (the session says who asks instead)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request, as far as the dashboard looks at one. Names of headers are in lower case."""

    path: str
    parts: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    form: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    """The address that it came from, as the server vouches for it."""
    sent: bool = False
    """It sends a form."""

    @property
    def fragment(self) -> bool:
        return self.headers.get("hx-request") == "true"

    def given(self, name: str, default: str = "") -> str:
        """Returns the first value of a form's field, as it came."""
        return self.form.get(name, (default,))[0]

    @property
    def typed(self) -> tuple[str, ...]:
        """What somebody wrote into the fields of a form: all that would be a pity to lose. Nothing that another site sent."""
        if not from_here(self.headers):
            return ()
        given = (self.given(name).strip() for name in _WRITTEN)
        return tuple(one for one in given if one)

    @property
    def target(self) -> str:
        """The path with its query."""
        pairs = [(name, value) for name, values in self.query.items() for value in values]
        return self.path + ("?" + urlencode(pairs) if pairs else "")


@dataclass(frozen=True, kw_only=True)
class Replied:
    """What the server is to send: HTML, or nothing."""

    status: HTTPStatus
    html: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Guest:
    """A visitor with what stands behind it."""

    principal: Principal
    visitor: Visitor


class Reception:
    """Answers visitors. Safe to call from several threads."""

    def __init__(self, door: OpenDoor, setup: Setup, watch: Watch, *, now: Now = utc_now) -> None:
        """`door` is opened at the first visit that needs it."""
        self._door = door
        self._watch = watch
        self._began = now()
        self._setup = setup
        self._now = now
        self._cookie = SessionCookie(secure=setup.secure, path=setup.root)
        self._functions = Functions(door, stopping=setup.stopping)
        self.rendering = Rendering(setup.root)

    def answer(self, page: Page, asked: Asked, *, may_wait: bool = True) -> Replied:
        """Returns what a page answers. Raises nothing that anybody foresaw.

        A database that hangs is waited for no longer than the page may take; then it is unavailable.
        """
        waits_s = self._setup.live_s if page.waits and may_wait else 0.0
        seconds = CHANGE_S if page.method == "POST" else READ_S + waits_s
        with _within(seconds):
            return self._answer(page, asked, seconds=seconds, may_wait=may_wait)

    def _answer(self, page: Page, asked: Asked, *, seconds: float, may_wait: bool) -> Replied:
        ends_at = time.monotonic() + seconds
        try:
            guest = self._guest(asked)
        except TributaryError as error:
            return self._out_of_order(error, asked)
        if guest is None or (guest.visitor.public and not page.public):
            return self._to_sign_in(page, asked)
        frame = self._frame(asked, guest.visitor)
        if not guest.visitor.may(page.role):
            forbidden = sdk.Forbidden(f"You are signed in as a {guest.visitor.role}; this needs a {page.role}.")
            return self._problem(problem_of(forbidden), frame, fragment=asked.fragment)
        if page.method == "POST" and not _is_own(asked, guest.visitor.form_token):
            return self._problem(STALE_FORM, frame)
        visit = partial(
            Visit,
            visitor=guest.visitor,
            path=asked.path,
            parts=asked.parts,
            query=asked.query,
            form=asked.form,
            at=frame.at,
            fragment=asked.fragment,
            look=self._watch.panel,
            began=self._began,
            live_s=self._setup.live_s if may_wait else 0.0,
        )
        with self._memory(guest.principal, seconds) as memory:
            try:
                return self._shown(page.answer(visit(memory=memory)), frame)
            except sdk.Unauthenticated:
                return self._to_sign_in(page, asked)
            except sdk.TributaryError as error:
                if guest.visitor.public and isinstance(error, sdk.Forbidden):
                    return self._to_sign_in(page, asked)  # as for a page that is not public
                refused = error
        # In what time is left: whoever waits behind API Gateway is cut off soon after.
        left_s = max(_SHORTEST_S, min(READ_S, ends_at - time.monotonic()))
        with self._memory(guest.principal, left_s) as memory:
            return self._refused(refused, page, partial(visit, memory=memory), frame)

    def sign_in(self, asked: Asked, *, refused: TributaryError | None = None) -> Replied:
        """Shows the form for a token, with why the one that was given is not good."""
        problem = None if refused is None else refusal_of(refused)
        back = way_back((asked.form.get("next") or asked.query.get("next") or ("/",))[0])
        values = {"problem": problem, "next": back, "panel": self._watch.panel()}
        html = self.rendering.page("sign_in.html", values, self._frame(asked, None))
        return Replied(status=problem.status if problem else HTTPStatus.OK, html=html)

    def begin(self, asked: Asked) -> Replied:
        """Begins a session with the token of the form; shows the form again when it is not good."""
        if not from_here(asked.headers):
            return self._problem(STALE_FORM, self._frame(asked, None))
        try:
            with _within(READ_S):
                begun = self._door().sign_in(asked.given("token").strip(), source=asked.source)
        except TributaryError as error:
            return self.sign_in(asked, refused=error)
        self._forget(self._secret(asked))
        cookie = self._cookie.begin(begun.secret, at=self._now(), ends_at=begun.ends_at)
        back = way_back(asked.given("next", "/"))
        return Replied(status=HTTPStatus.SEE_OTHER, headers=(("location", self._setup.root + back), ("set-cookie", cookie)))

    def _forget(self, secret: str | None) -> None:
        """Ends the session that the browser had before, whose secret it is given no other use for."""
        if secret is not None:
            with suppress(TributaryError):
                self._door().sign_out(secret)

    def end(self, asked: Asked) -> Replied:
        """Ends the session, here and in the browser."""
        secret = self._secret(asked)
        if secret is not None and not _is_own(asked, form_token(secret)):
            return self._problem(STALE_FORM, self._frame(asked, None))
        try:
            if secret is not None:
                with _within(READ_S):
                    self._door().sign_out(secret)
        except TributaryError as error:
            return self._out_of_order(error, asked)
        location = f"{self._setup.root}{SIGN_IN}?said=signed-out"
        headers = (("location", location), ("set-cookie", self._cookie.end()))
        return Replied(status=HTTPStatus.SEE_OTHER, headers=headers)

    def problem(self, problem: Problem, asked: Asked) -> Replied:
        """Shows a problem to whoever it may be, without asking for anything."""
        return self._problem(problem, self._frame(asked, None), fragment=asked.fragment)

    def _guest(self, asked: Asked) -> _Guest | None:
        secret = self._secret(asked)
        if secret is not None:
            try:
                principal = self._door().session(secret)
            except Unauthenticated:
                pass
            else:
                return _Guest(principal=principal, visitor=_visitor(principal, form_token(secret)))
        token = self._setup.public_token()
        if token is None:
            return None
        try:
            principal = self._door().authenticate(token)
        except Unauthenticated:  # it ended, or was revoked to close the page: nothing is public any more
            return None
        if principal.role is not Role.READER:
            raise BadSetting("TRIBUTARY_DASHBOARD_TOKEN must be a reader's: anybody sees what it may see")
        return _Guest(principal=principal, visitor=replace(_visitor(principal, ""), name="anybody", public=True))

    def _memory(self, principal: Principal, seconds: float) -> Memory:
        transport = InProcess(self._functions, lambda _: to_context(principal), most_s=seconds)
        return Memory(URL, _NO_TOKEN, timeout_s=seconds, transport=transport, environment={})

    def _secret(self, asked: Asked) -> str | None:
        """Returns the secret of the session that the browser shows."""
        return self._cookie.read(asked.headers.get("cookie", ""))

    def _frame(self, asked: Asked, visitor: Visitor | None) -> Frame:
        said = asked.query.get("said", ("",))[0]
        return Frame(
            at=self._now(),
            path=asked.path,
            visitor=visitor,
            menu=_menu(asked.path, visitor),
            said=SAID.get(said),
            sent=asked.sent,
            unsent=asked.typed,
        )

    def _shown(self, answer: Answer, frame: Frame) -> Replied:
        match answer:
            case Shown():
                return Replied(status=answer.status, html=self.rendering.page(answer.template, answer.values, frame))
            case Sent():
                said = f"{'&' if '?' in answer.path else '?'}said={quote(answer.said)}" if answer.said else ""
                location = self._setup.root + answer.path + said
                return Replied(status=HTTPStatus.SEE_OTHER, headers=(("location", location),))
            case Nothing():
                return Replied(status=HTTPStatus.NO_CONTENT)

    def _refused(self, error: sdk.TributaryError, page: Page, visit: partial[Visit], frame: Frame) -> Replied:
        """After a form: the page that it is on, as things stand now, with what was wrong; else a page of the problem alone."""
        problem = problem_of(error, sent=frame.sent)
        if problem is FAILED:
            log.event(Event.PAGE_FAILED, level=log.ERROR, error=error)
        if page.back is not None:
            try:
                shown = page.back(visit(refusal=error))
            except sdk.TributaryError:
                shown = Nothing()
            if isinstance(shown, Shown):
                frame = replace(frame, refusal=problem, unsent=() if shown.asks_again else frame.unsent)
                return self._shown(replace(shown, status=problem.status), frame)
        return self._problem(problem, frame, fragment=visit.keywords["fragment"])

    def _problem(self, problem: Problem, frame: Frame, *, fragment: bool = False) -> Replied:
        template = "problem_part.html" if fragment else "problem.html"
        return Replied(status=problem.status, html=self.rendering.page(template, {"problem": problem}, frame))

    def _out_of_order(self, error: TributaryError, asked: Asked) -> Replied:
        """The page for when nobody can tell who comes: the database is away, or a setting is wrong."""
        if isinstance(error, Unavailable):
            problem = AWAY
        else:
            log.event(Event.PAGE_FAILED, level=log.ERROR, error=error)
            problem = FAILED
        frame = self._frame(asked, None)
        if asked.fragment:
            return self._problem(problem, frame, fragment=True)
        # How the databases stand is of no tribe, and what whoever put this page up needs to know.
        values = {"problem": problem, "panel": self._watch.panel()}
        return Replied(status=problem.status, html=self.rendering.page("away.html", values, frame))

    def _to_sign_in(self, page: Page, asked: Asked) -> Replied:
        if page.method == "GET" and asked.headers.get("sec-fetch-site") == "cross-site" and not asked.fragment:
            # A link from elsewhere: the browser kept the cookie back, and shows it when the page asks for itself.
            target = self._setup.root + asked.target
            html = self.rendering.page("again.html", {"target": target}, self._frame(asked, None))
            return Replied(status=HTTPStatus.OK, html=html)
        back = way_back(asked.target if page.method == "GET" and not asked.fragment else "/")
        if asked.typed:
            # Going on to another page would lose it, and going back shows nothing that was typed: no page is kept.
            return self._problem(SESSION_OVER, self._frame(asked, None))
        had_one = self._secret(asked) is not None
        query = urlencode({**({"next": back} if back != "/" else {}), **({"said": "ended"} if had_one else {})})
        location = f"{self._setup.root}{SIGN_IN}" + (f"?{query}" if query else "")
        if asked.fragment:
            return Replied(status=HTTPStatus.UNAUTHORIZED, headers=(("hx-redirect", location),))
        return Replied(status=HTTPStatus.SEE_OTHER, headers=(("location", location),))


def _is_own(asked: Asked, token: str) -> bool:
    """Tells whether a form is of the session whose forms carry `token`, and was sent by a page of this host."""
    return from_here(asked.headers) and is_token(asked.given(FIELD), token)


def _within(seconds: float) -> AbstractContextManager[None]:
    # Imported late: the service brings all of its rooms along, which no cold start should wait for.
    from tributary.service import within

    return within(seconds)


def _visitor(principal: Principal, token: str) -> Visitor:
    agent = ids.show(ids.Prefix.AGENT, principal.agent_id)
    return Visitor(agent=agent, name=principal.name, role=principal.role, form_token=token)


def _menu(path: str, visitor: Visitor | None) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """Returns the menu's groups with what the visitor may see of them, the entry of this page marked."""
    if visitor is None:
        return ()
    groups = []
    for group, pages in MENU:
        entries = tuple(
            Entry(title=page.title or "", path=page.path, current=_is_under(path, page.path))
            for page in pages
            if visitor.may(page.role) and (page.public or not visitor.public)
        )
        if entries:
            groups.append((group, entries))
    return tuple(groups)


def _is_under(path: str, entry: str) -> bool:
    return path == entry or (entry != "/" and path.startswith(entry + "/"))
