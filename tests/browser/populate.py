"""A tribe that has lived for three days: what pages have to show, made by the product's own calls in seconds and then retold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from uuid import UUID

from tests.browser import story
from tests.browser.measured import keep_hours, keep_runs
from tests.browser.retelling import Retelling
from tests.browser.site import Company, company_of
from tests.tribes import Tribal, open_tribal
from tributary.core.agent import Principal
from tributary.core.curation import Ending, Mistake, RetireCause
from tributary.core.decision import Learned
from tributary.core.ports import Embedder
from tributary.core.requests import Question
from tributary.core.spending import CallEnd, ModelCall, Purpose, account
from tributary.models.judges import LocalJudge
from tributary.models.screens import LocalScreen
from tributary.service import open_operator
from tributary.service.seeding import seed_demo

TRIBE = "shop"
_PRICES = {
    Purpose.JUDGE: ("eu.amazon.nova-micro-v1:0", "0.0004", 380.0),
    Purpose.STRONG_JUDGE: ("eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "0.0125", 2900.0),
    Purpose.SCREEN: ("eu.amazon.nova-micro-v1:0", "0.0003", 310.0),
    Purpose.EMBED: ("amazon.titan-embed-text-v2:0", "0.00002", 84.0),
}


def populated_company(url: str, *, ends_at: datetime | None = None, embedder: Embedder | None = None) -> Company:
    """Populates the migrated database at `url` and returns who may sign in; the story ends now, or at `ends_at`."""
    with open_tribal(url, name=TRIBE, judge=LocalJudge(), screen=LocalScreen(), embedder=embedder) as tribal:
        return populate(tribal, ends_at=ends_at)


def populate(tribal: Tribal, *, ends_at: datetime | None = None) -> Company:
    """Lets a new tribe live through the story and returns the three as whom people sign in.

    Afterwards it has believed, replaced, disputed (open, accepted, rejected, both standing), quarantined, released and retired
    lessons, reviews, actions in every state, agents of every role and one that is revoked, recalls and costs of three days. Its
    database keeps some weeks of runs of the evals.
    The judge and screen must be the local ones, whose verdicts the story counts on.
    """
    company = company_of(tribal)
    crew = {name: tribal.agent(name, role) for name, role in story.CREW.items()}
    crew |= {name: tribal.memory.authenticate(token) for name, token in company.tokens.items()}
    telling = Retelling(tribal.url, ends_at or tribal.clock())
    life = _Life(tribal=tribal, crew=crew, telling=telling, told={})
    life.learns()
    life.disagrees()
    life.holds_back()
    life.acts()
    life.asks()
    life.dismisses()
    telling.add(26, partial(seed_demo, tribal.settings, tribal.name, adapters=tribal.adapters), lasts=1.1)
    telling.tell()
    keep_runs(tribal, telling.ends_at)
    keep_hours(tribal, telling.ends_at)
    return company


@dataclass(kw_only=True)
class _Life:
    """What happens when. `told` has what became of each lesson, by its subject or its text."""

    tribal: Tribal
    crew: dict[str, Principal]
    telling: Retelling
    told: dict[str, Learned]

    def learns(self) -> None:
        for said in story.LESSONS:
            self.telling.add(said.hours_ago, partial(self._learn, said))
        confirmed = ("deploy API header", "refunds worker rate", story.LESSONS[3].draft.text, story.LESSONS[11].draft.text)
        for number, what in enumerate(confirmed):
            for who, later in (("on-call-ben", 0.0), ("writer", 0.3), ("incident-bot", 0.5))[: 3 - number % 2]:
                self.telling.add(16 - 2 * number - later, partial(self._confirm, who, what))

    def disagrees(self) -> None:
        for against in (story.ACCEPTED, story.REJECTED, story.BOTH_STAND, *story.OPEN):
            self.telling.add(against.hours_ago, partial(self._contest, against))
        ends = {
            Ending.ACCEPTED: (story.ACCEPTED, "the rule of the bucket was read again: 35 days"),
            Ending.REJECTED: (story.REJECTED, "the diagram is of 2024; the move to Ireland was in March"),
            Ending.BOTH_STAND: (story.BOTH_STAND, "one is of production, the other of staging"),
        }
        for ending, (against, rationale) in ends.items():
            self.telling.add(against.hours_ago - 1.5, partial(self._resolve, against, ending, rationale))
        self.telling.add(8, partial(self._report, story.OPEN[0], "both are right: one is the quota, the other the peak"))

    def holds_back(self) -> None:
        for said in story.HELD_BACK:
            self.telling.add(said.hours_ago, partial(self._learn, said))
        attack, _, harmless = (said.draft.text for said in story.HELD_BACK)
        self.telling.add(25.5 - 0.9, partial(self._retire, attack, RetireCause.INJECTION))
        self.telling.add(4.5, partial(self._release, harmless))
        self.telling.add(2.5, partial(self._retire, story.LESSONS[12].draft.text, RetireCause.OUTDATED))

    def acts(self) -> None:
        actions = self.tribal.memory.actions
        ben, bot = self.crew["on-call-ben"], self.crew["deploy-bot"]

        def begun(who: Principal, key: str, description: str, lease_s: int = 900) -> tuple[UUID, str]:
            granted = actions.begin(who, key, description, lease_s=lease_s)
            assert granted.lease is not None
            return granted.action.action_id, granted.lease

        def done() -> None:
            action, lease = begun(bot, "deploy:checkout:8907", "Roll out checkout 8907 to production")
            actions.complete(bot, action, lease, {"revision": 8907, "pods": 24})

        def failed() -> None:
            action, lease = begun(bot, "deploy:catalog:412", "Roll out catalog 412 to production")
            actions.fail(bot, action, lease, "the image catalog:412 could not be pulled")

        def doubted(who: Principal, key: str, description: str, why: str) -> UUID:
            action, lease = begun(who, key, description)
            actions.fail(who, action, lease, why, unsure=True)
            return action

        def reconciled() -> None:
            action = doubted(bot, "dns:api.shop.example", "Point api.shop.example to the new load balancer", "time-out")
            actions.reconcile(self.crew["curator"], action, happened=True, rationale="dig shows the new address", result="done")

        self.telling.add(37.5, done)
        self.telling.add(23, reconciled)
        self.telling.add(12.3, failed)
        self.telling.add(
            6,
            lambda: doubted(
                ben, "refund:order-55120", "Refund order 55120, 89.90 EUR", "the connection was lost after the request"
            ),
        )
        self.telling.add(
            1.9,
            lambda: doubted(bot, "page:warehouse", "Set the night override of the warehouse's pager", "the process was killed"),
        )
        self.telling.add(0.2, lambda: begun(bot, "deploy:tax:77", "Roll out tax 77 to production", lease_s=3600))

    def asks(self) -> None:
        for number in range(24):
            self.telling.add(69.5 - 2.9 * number, partial(self._recall, number))

    def dismisses(self) -> None:
        def revoke() -> None:
            with open_operator(self.tribal.settings, adapters=self.tribal.adapters) as operator:
                operator.revoke_agent(self.tribal.name, "contractor-3")

        self.telling.add(22, revoke)

    def _learn(self, said: story.Said) -> None:
        learned = self.tribal.memory.learn(self.crew[said.who], said.draft)
        self.told[said.draft.text] = learned
        if said.draft.subject is not None:
            self.told[said.draft.subject] = learned

    def _confirm(self, who: str, what: str) -> None:
        self.tribal.memory.reinforce(self.crew[who], self._lesson(what))

    def _contest(self, against: story.Against) -> None:
        memory = self.tribal.memory
        self.told[against.claim.text] = memory.contest(self.crew[against.who], self._lesson(against.subject), against.claim)

    def _resolve(self, against: story.Against, ending: Ending, rationale: str) -> None:
        dispute = self.told[against.claim.text].dispute_id
        assert dispute is not None
        self.tribal.memory.curate.resolve(self.crew["platform-lead"], dispute, ending, rationale=rationale)

    def _report(self, against: story.Against, note: str) -> None:
        decision = self.told[against.claim.text].decision_id
        on = self._lesson(against.subject)
        self.tribal.memory.curate.report(self.crew["on-call-ana"], decision, Mistake.UNRELATED, candidate=on, note=note)

    def _retire(self, what: str, cause: RetireCause) -> None:
        self.tribal.memory.curate.retire(self.crew["curator"], self._lesson(what), cause)

    def _release(self, what: str) -> None:
        self.tribal.memory.curate.release(self.crew["platform-lead"], self._lesson(what))

    def _recall(self, number: int) -> None:
        asker = self.crew[("on-call-ana", "incident-bot", "reader", "deploy-bot")[number % 4]]
        question = story.QUESTIONS[number % len(story.QUESTIONS)]
        self.tribal.memory.recall(asker, Question(query=question, as_of=None if number % 6 else 1))
        self._spend(asker, number)

    def _spend(self, who: Principal, number: int) -> None:
        """Writes down what hosted models would have cost by then; the ledger takes the instant of a call as it is given."""
        at = self.telling.instant(69.5 - 2.9 * number)
        with self.tribal.memory.ledger.on(who.tribe_id, who.agent_id):
            for purpose, (model, cost, ms) in _PRICES.items():
                if purpose is Purpose.STRONG_JUDGE and number % 3:
                    continue
                end = CallEnd.TIMED_OUT if number == 12 and purpose is Purpose.STRONG_JUDGE else CallEnd.ANSWERED
                account().charge(
                    ModelCall(
                        purpose=purpose,
                        model=model,
                        at=at,
                        ms=ms * (1 + number % 5 / 4),
                        end=end,
                        input_tokens=900 + 37 * number,
                        output_tokens=60,
                        cost_usd=Decimal(cost),
                    )
                )

    def _lesson(self, what: str) -> UUID:
        lesson = self.told[what].lesson
        assert lesson is not None
        return lesson.lesson_id
