"""The Python SDK: a tribe's shared memory over HTTP. It needs pydantic and httpx, and nothing of the server.

from tributary.client import Memory, observed

memory = Memory()
learned = memory.learn("The deploy API needs X-Batch: true", situation="deploying a service", source=observed("run:88"))
hits = memory.recall("deploy payments", at_least=learned.tick)
print(hits.as_prompt())
"""

from tributary.client.calls import LessonDetail, Page
from tributary.client.errors import (
    BadReply,
    BadSetting,
    CodeTooOld,
    Corrupt,
    Forbidden,
    IdempotencyConflict,
    InvalidRequest,
    ModelFailed,
    NotComplete,
    NotConfigured,
    NotFound,
    NotMigrated,
    NotSupported,
    Overloaded,
    ServerFailed,
    TimedOut,
    TooLarge,
    TributaryError,
    Unauthenticated,
    Unavailable,
    Unreachable,
    WrongStanding,
)
from tributary.client.hits import Hit, Hits
from tributary.client.memory import Memory, View
from tributary.client.place import DEFAULT_PORT, DEFAULT_URL
from tributary.client.prompt import coverage_words
from tributary.client.receipts import Receipt
from tributary.client.values import Challenge, Lesson, derived, imported, observed, source_of, told
from tributary.client.visible import visible
from tributary.contract.models import Evidence, Source
from tributary.contract.models import HealthReply as Health
from tributary.contract.models import LearnReply as Learned
from tributary.contract.models import ReinforceReply as Reinforced

__all__ = [
    "DEFAULT_PORT",
    "DEFAULT_URL",
    "BadReply",
    "BadSetting",
    "Challenge",
    "CodeTooOld",
    "Corrupt",
    "Evidence",
    "Forbidden",
    "Health",
    "Hit",
    "Hits",
    "IdempotencyConflict",
    "InvalidRequest",
    "Learned",
    "Lesson",
    "LessonDetail",
    "Memory",
    "ModelFailed",
    "NotComplete",
    "NotConfigured",
    "NotFound",
    "NotMigrated",
    "NotSupported",
    "Overloaded",
    "Page",
    "Receipt",
    "Reinforced",
    "ServerFailed",
    "Source",
    "TimedOut",
    "TooLarge",
    "TributaryError",
    "Unauthenticated",
    "Unavailable",
    "Unreachable",
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
