"""What can go wrong for a user of the SDK.

    TributaryError
    ├── NotConfigured              not_configured         no server, token or AWS credentials could be found; nothing was sent
    ├── InvalidRequest             invalid_request        a field breaks a rule; `errors` names field and rule
    ├── Unauthenticated            unauthenticated        no token, or one that the server does not know
    ├── Forbidden                  forbidden              the agent's role does not allow it
    ├── NotFound                   not_found              no such thing in this tribe
    ├── NotSupported               method_not_allowed     the server has no such operation; is it older than this SDK?
    │                              unsupported_media_type
    ├── IdempotencyConflict        idempotency_conflict   the key was used for another request
    ├── WrongStanding              wrong_standing         the lesson's status does not allow it
    ├── TooLarge                   too_large              the request is too large
    ├── NotComplete                not_complete           absence was claimed on an incomplete search
    ├── OfAction                                          an action was not carried out; `action` is how it stands
    │   ├── InDoubt                in_doubt               nobody knows whether its effect happened
    │   └── Busy                   busy                   another one is at it, and takes longer than was waited
    ├── Unavailable                unavailable            try again later; `retry_after` says when, if it is known
    │   ├── Unreachable            unreachable            no reply came: no server there, or the network failed
    │   ├── RateLimited            rate_limited           too much was written by the agent, or in the tribe on this day
    │   │   └── TooManyTries       too_many_tries         too many sign-ins to the dashboard failed
    │   ├── Overloaded             overloaded             too busy, or it could not be settled in time
    │   ├── TimedOut               timed_out              the server gave up on it
    │   ├── ModelFailed            model_failed           a model gave no usable answer
    │   ├── NotMigrated            not_migrated           the server's database is not migrated
    │   └── CodeTooOld             code_too_old           the server is older than its database
    ├── NotSetUp                   not_set_up             the server has no model for this
    ├── ServerFailed               internal               the server's own fault, to be looked up by `operation`
    │   ├── BadSetting             bad_setting            the server is misconfigured, or the AWS region to sign for is none
    │   └── Corrupt                corrupt                the server's stored data is not what it should be
    └── BadReply                   bad_reply              what answered does not speak this API

The class docstring is the message when the server gave none. Two codes may share a class; `code` is always the server's.
`NotDone` is none of them: functions that `Memory.once` carries out raise it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tributary.contract.actions import ActionReply
from tributary.contract.models import FieldProblem


class TributaryError(Exception):
    """The memory could not do it."""

    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        detail: str | None = None,
        *,
        code: str | None = None,
        status: int | None = None,
        errors: Sequence[FieldProblem] = (),
        operation: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.detail = detail or type(self).__doc__ or self.default_code
        super().__init__(self.detail)
        self.code = code or self.default_code
        """Stable name of what went wrong."""
        self.status = status
        """HTTP status of the reply; None when there was none."""
        self.errors = tuple(errors)
        """The fields that break a rule."""
        self.operation = operation
        """Find the server's log lines of this request by it."""
        self.retry_after = retry_after
        """Seconds after which the same request may succeed, as the server says."""


class NotConfigured(TributaryError):
    """No server or no token could be found."""

    default_code = "not_configured"


class InvalidRequest(TributaryError):
    """The request breaks a rule."""

    default_code = "invalid_request"


class Unauthenticated(TributaryError):
    """The server knows no such token."""

    default_code = "unauthenticated"


class Forbidden(TributaryError):
    """The agent's role does not allow this."""

    default_code = "forbidden"


class NotFound(TributaryError):
    """There is no such thing in this tribe."""

    default_code = "not_found"


class NotSupported(TributaryError):
    """The server does not know this operation; it may be older than this SDK."""

    default_code = "method_not_allowed"


class IdempotencyConflict(TributaryError):
    """This idempotency key was already used for another request; use a new key."""

    default_code = "idempotency_conflict"


class WrongStanding(TributaryError):
    """The lesson's status does not allow this."""

    default_code = "wrong_standing"


class TooLarge(TributaryError):
    """The request is too large."""

    default_code = "too_large"


class NotComplete(TributaryError):
    """The search was not complete, so it cannot show that there is nothing."""

    default_code = "not_complete"


class OfAction(TributaryError):
    """An action was not carried out."""

    def __init__(self, action: ActionReply) -> None:
        self.action = action
        """The action as it stands."""
        super().__init__(f"{type(self).__doc__} Its id is {action.id}, its key {action.key!r}.")

    def __reduce__(self) -> tuple[type[OfAction], tuple[ActionReply]]:
        return type(self), (self.action,)  # an exception is remade from its message, which is not what this one takes


class InDoubt(OfAction):
    """Nobody knows whether the effect of this action happened, so it is not carried out again before a curator reconciled it."""

    default_code = "in_doubt"


class Busy(OfAction):
    """Another one is carrying out this action, and takes longer than was waited for it."""

    default_code = "busy"


class NotDone(Exception):
    """Raised by a function that `Memory.once` carries out: its effect did not happen, so the action may be begun again."""


class Unavailable(TributaryError):
    """The memory cannot be reached now; nothing was lost, try again."""

    default_code = "unavailable"


class Unreachable(Unavailable):
    """No reply came from the server."""

    default_code = "unreachable"


class RateLimited(Unavailable):
    """Too much was written; try again later."""

    default_code = "rate_limited"


class TooManyTries(RateLimited):
    """Too many sign-ins failed; try again later."""

    default_code = "too_many_tries"


class Overloaded(Unavailable):
    """The server is too busy now; try again."""

    default_code = "overloaded"


class TimedOut(Unavailable):
    """The server gave up on the request; try again."""

    default_code = "timed_out"


class ModelFailed(Unavailable):
    """A model gave the server no usable answer; try again."""

    default_code = "model_failed"


class NotMigrated(Unavailable):
    """The server's database is not migrated; run 'tributary migrate' there."""

    default_code = "not_migrated"


class CodeTooOld(Unavailable):
    """The server is older than its database; upgrade it."""

    default_code = "code_too_old"


class NotSetUp(TributaryError):
    """The server has no model set up for this."""

    default_code = "not_set_up"


class ServerFailed(TributaryError):
    """Something unexpected happened in the server."""

    default_code = "internal"


class BadSetting(ServerFailed):
    """The server is misconfigured."""

    default_code = "bad_setting"


class Corrupt(ServerFailed):
    """The server's stored data is not what it should be."""

    default_code = "corrupt"


class BadReply(TributaryError):
    """What answered does not speak this API."""

    default_code = "bad_reply"


def broken(field: str, rule: str) -> InvalidRequest:
    """Returns the error of one field that breaks a rule."""
    return InvalidRequest(f"{field}: {rule}", errors=[FieldProblem(field=field, rule=rule)])
