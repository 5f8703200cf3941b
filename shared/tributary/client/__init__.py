"""The Python SDK: a tribe's shared memory over HTTP. It needs pydantic and httpx, and nothing of the server.

from tributary.client import Memory, observed

memory = Memory()
learned = memory.learn("The deploy API needs X-Batch: true", situation="deploying a service", source=observed("run:88"))
hits = memory.recall("deploy payments", at_least=learned.tick)
print(hits.as_prompt())
"""

from typing import TYPE_CHECKING

from tributary.client.actions import Actions
from tributary.client.aws import Aws
from tributary.client.calls import Attempt, LessonDetail, Page
from tributary.client.curation import Curation, Listing
from tributary.client.curation_calls import ListingPage
from tributary.client.difference import BeliefChange, Diff, DiffPage
from tributary.client.errors import (
    BadReply,
    BadSetting,
    Busy,
    CodeTooOld,
    Corrupt,
    Forbidden,
    IdempotencyConflict,
    InDoubt,
    InvalidRequest,
    ModelFailed,
    NotComplete,
    NotConfigured,
    NotDone,
    NotFound,
    NotMigrated,
    NotSetUp,
    NotSupported,
    Overloaded,
    RateLimited,
    ServerFailed,
    TimedOut,
    TooLarge,
    TooManyTries,
    TributaryError,
    Unauthenticated,
    Unavailable,
    Unreachable,
    WrongStanding,
)
from tributary.client.history import Change, Changes, Timeline
from tributary.client.hits import Hit, Hits
from tributary.client.memory import Memory
from tributary.client.place import DEFAULT_PORT, DEFAULT_URL
from tributary.client.prompt import coverage_words
from tributary.client.receipts import Receipt
from tributary.client.responding import Responded
from tributary.client.values import Challenge, Lesson, LessonDraft, derived, imported, observed, source_of, told
from tributary.client.view import View
from tributary.client.visible import visible
from tributary.contract.actions import ActionReply as Action
from tributary.contract.actions import BegunReply as Begun
from tributary.contract.actions import CompletedReply as Completed
from tributary.contract.activity import ActivityReply as Activity
from tributary.contract.activity import EvaluationReply as Evaluation
from tributary.contract.agents import AgentReply as Agent
from tributary.contract.agents import NewTokenReply as NewToken
from tributary.contract.agents import TokenReply as Token
from tributary.contract.costs import CostsReply as Costs
from tributary.contract.curation import AuditEntryReply as AuditEntry
from tributary.contract.curation import DecisionDetailReply as DecisionDetail
from tributary.contract.curation import DecisionReply as Decision
from tributary.contract.curation import DisputeReply as Dispute
from tributary.contract.curation import ErasedReply as Erased
from tributary.contract.curation import HeldReply as Held
from tributary.contract.curation import PolicyReply as Policy
from tributary.contract.curation import PrecedenceReply as Precedence
from tributary.contract.curation import ReportedReply as Reported
from tributary.contract.curation import ResolvedReply as Resolved
from tributary.contract.curation import RetiredReply as Retired
from tributary.contract.curation import ReviewClosedReply as ReviewClosed
from tributary.contract.curation import ReviewReply as Review
from tributary.contract.distilling import DistillReply as Distilled
from tributary.contract.distilling import ProposedLessonReply as ProposedLesson
from tributary.contract.distilling import TurnRequest as Turn
from tributary.contract.history import EventReply as Event
from tributary.contract.models import Evidence, Source
from tributary.contract.models import HealthReply as Health
from tributary.contract.models import LearnReply as Learned
from tributary.contract.models import ReinforceReply as Reinforced
from tributary.contract.models import VerifyReply as Verified
from tributary.contract.status import MeReply as Me
from tributary.contract.status import ObservationReply as Observation
from tributary.contract.status import StatsReply as Stats
from tributary.contract.status import StatusReply as MemoryStatus

if TYPE_CHECKING:
    from tributary.client.asynchronous import AsyncActions, AsyncCuration, AsyncDiff, AsyncListing, AsyncMemory, AsyncView

__all__ = [
    "DEFAULT_PORT",
    "DEFAULT_URL",
    "Action",
    "Actions",
    "Activity",
    "Agent",
    "AsyncActions",
    "AsyncCuration",
    "AsyncDiff",
    "AsyncListing",
    "AsyncMemory",
    "AsyncView",
    "Attempt",
    "AuditEntry",
    "Aws",
    "BadReply",
    "BadSetting",
    "Begun",
    "BeliefChange",
    "Busy",
    "Challenge",
    "Change",
    "Changes",
    "CodeTooOld",
    "Completed",
    "Corrupt",
    "Costs",
    "Curation",
    "Decision",
    "DecisionDetail",
    "Diff",
    "DiffPage",
    "Dispute",
    "Distilled",
    "Erased",
    "Evaluation",
    "Event",
    "Evidence",
    "Forbidden",
    "Health",
    "Held",
    "Hit",
    "Hits",
    "IdempotencyConflict",
    "InDoubt",
    "InvalidRequest",
    "Learned",
    "Lesson",
    "LessonDetail",
    "LessonDraft",
    "Listing",
    "ListingPage",
    "Me",
    "Memory",
    "MemoryStatus",
    "ModelFailed",
    "NewToken",
    "NotComplete",
    "NotConfigured",
    "NotDone",
    "NotFound",
    "NotMigrated",
    "NotSetUp",
    "NotSupported",
    "Observation",
    "Overloaded",
    "Page",
    "Policy",
    "Precedence",
    "ProposedLesson",
    "RateLimited",
    "Receipt",
    "Reinforced",
    "Reported",
    "Resolved",
    "Responded",
    "Retired",
    "Review",
    "ReviewClosed",
    "ServerFailed",
    "Source",
    "Stats",
    "TimedOut",
    "Timeline",
    "Token",
    "TooLarge",
    "TooManyTries",
    "TributaryError",
    "Turn",
    "Unauthenticated",
    "Unavailable",
    "Unreachable",
    "Verified",
    "View",
    "WrongStanding",
    "coverage_words",
    "derived",
    "imported",
    "observed",
    "source_of",
    "told",
    "visible",
]


def __getattr__(name: str) -> object:
    """Loads asyncio, and what is made for it, only for those who name it."""
    if name.startswith("Async"):
        from tributary.client import asynchronous

        return getattr(asynchronous, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
