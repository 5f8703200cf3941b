"""The error tree of the product.

    TributaryError
    ├── InvalidRequest        invalid_request        a field breaks a rule
    ├── Unauthenticated       unauthenticated        no token, or one that is not known
    │   └── UnknownCell       unauthenticated        it names a database that this process does not have
    ├── Forbidden             forbidden              the stored role does not allow it
    ├── NotFound              not_found              no such thing in this tribe
    ├── IdempotencyConflict   idempotency_conflict   same key, another request
    ├── WrongStanding         wrong_standing         the lesson's status does not allow it
    ├── RateLimited           rate_limited           too many writes; try again after a while
    │   └── TooManyTries      too_many_tries         too many sign-ins failed; try again after a while
    ├── Overloaded            overloaded             it could not be settled within its deadline; try again
    ├── Unavailable           unavailable            the database, or what else is needed, cannot be reached now
    │   └── SecretUnread      unavailable            the secret that holds settings cannot be read now
    ├── NotMigrated           not_migrated           the schema is missing or older than this code
    ├── CodeTooOld            code_too_old           the schema was contracted past this code
    ├── ModelFailed           model_failed           a model gave no usable answer; its kinds share the code
    │   ├── ModelUnreachable  model_failed           it, or its provider, was away
    │   ├── ModelThrottled    model_failed           its provider takes no more requests for now
    │   ├── ModelTimedOut     model_failed           it did not answer in time
    │   ├── ModelRefused      model_failed           it, or a filter, declined to answer
    │   └── ModelMalformed    model_failed           it answered what was not asked
    ├── NotSetUp              not_set_up             no model is set up for what was asked for
    ├── BadSetting            bad_setting            a setting is missing or malformed
    ├── NotComplete           not_complete           absence was claimed on an incomplete search
    └── Corrupt               corrupt                stored or shipped data is not what it should be

The class docstring is the message that a user reads; the `code` is stable. HTTP status and exit code are chosen at the
edges, never here.
"""

from __future__ import annotations

import re
from typing import ClassVar


class TributaryError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"

    def __init__(self, detail: str | None = None) -> None:
        self.detail = detail or type(self).__doc__ or self.code
        super().__init__(self.detail)


class InvalidRequest(TributaryError):
    """The request breaks a rule."""

    code = "invalid_request"

    def __init__(self, field: str, rule: str) -> None:
        self.field = field
        self.rule = rule
        super().__init__(f"{field}: {rule}")

    def __reduce__(self) -> tuple[type[InvalidRequest], tuple[str, str]]:
        return type(self), (self.field, self.rule)  # an exception is remade from its message, which is not what this one takes


class Unauthenticated(TributaryError):
    """No token came with the request; send 'Authorization: Bearer <token>'."""

    code = "unauthenticated"


class UnknownCell(Unauthenticated):
    """The token names a cell that this server does not know."""

    def __init__(self, cell: str) -> None:
        self.cell = cell
        super().__init__(f"the token names the cell '{cell}', which this server does not know")

    def __reduce__(self) -> tuple[type[UnknownCell], tuple[str]]:
        return type(self), (self.cell,)


class Forbidden(TributaryError):
    """The agent's role does not allow this."""

    code = "forbidden"


class NotFound(TributaryError):
    """There is no such thing in this tribe."""

    code = "not_found"


class IdempotencyConflict(TributaryError):
    """This idempotency key was already used by this agent for another request; use a new key."""

    code = "idempotency_conflict"


class WrongStanding(TributaryError):
    """The lesson's status does not allow this."""

    code = "wrong_standing"


class RateLimited(TributaryError):
    """Too many writes at once; nothing was written, try again later."""

    code = "rate_limited"

    def __init__(self, detail: str | None = None, *, retry_after_s: int = 1) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(detail)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.detail,), {"retry_after_s": self.retry_after_s}


class TooManyTries(RateLimited):
    """Too many sign-ins from here failed; wait, then try again."""

    code = "too_many_tries"

    def __init__(self, detail: str | None = None, *, retry_after_s: int = 60) -> None:
        super().__init__(detail, retry_after_s=retry_after_s)


class Overloaded(TributaryError):
    """Other writes kept changing what this one depends on; nothing was written, try again."""

    code = "overloaded"


class Unavailable(TributaryError):
    """The database cannot be reached now; nothing was lost, try again."""

    code = "unavailable"


class SecretUnread(Unavailable):
    """The secret that holds the server's settings cannot be read now; nothing was done, try again."""


class NotMigrated(TributaryError):
    """The database has no schema that this code can use; run 'tributary migrate'."""

    code = "not_migrated"


class CodeTooOld(TributaryError):
    """The database's schema no longer serves this version of the code; upgrade tributary-memory."""

    code = "code_too_old"


class ModelFailed(TributaryError):
    """A model gave no usable answer."""

    code = "model_failed"


class ModelUnreachable(ModelFailed):
    """A model could not be reached, or its provider failed; another attempt may succeed."""


class ModelThrottled(ModelFailed):
    """A model's provider takes no more requests for now."""

    def __init__(self, detail: str | None = None, *, retry_after_s: float | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(detail)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.detail,), {"retry_after_s": self.retry_after_s}


class ModelTimedOut(ModelFailed):
    """A model did not answer in time."""


class ModelRefused(ModelFailed):
    """A model, or a filter of its provider, declined to answer."""


class ModelMalformed(ModelFailed):
    """A model's answer is not what was asked for."""


class NotSetUp(TributaryError):
    """Nothing is set up for this; whoever runs the server can choose one in its settings."""

    code = "not_set_up"


class BadSetting(TributaryError):
    """A setting is missing or malformed."""

    code = "bad_setting"

    @property
    def variable(self) -> str | None:
        """The variable that the message begins with, for logs that are to show no value; None where it begins otherwise."""
        found = re.match(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![^\s:,])", self.detail)
        return found[0] if found else None


class NotComplete(TributaryError):
    """The search was not complete, so it cannot show that there is nothing."""

    code = "not_complete"


class Corrupt(TributaryError):
    """Data is not what it should be."""

    code = "corrupt"
