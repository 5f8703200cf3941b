"""Who may do what: tokens, the agents behind them, and the audit of refusals."""

from tributary.access.admission import SERVER_KEY, Admission, Admitted, Pace, check_key, request_digest
from tributary.access.audit import audit_refusal
from tributary.access.tokens import authenticate, new_token, token_hash

__all__ = [
    "SERVER_KEY",
    "Admission",
    "Admitted",
    "Pace",
    "audit_refusal",
    "authenticate",
    "check_key",
    "new_token",
    "request_digest",
    "token_hash",
]
