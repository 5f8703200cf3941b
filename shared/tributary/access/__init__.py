"""Who may do what: tokens, the agents behind them, and the audit of refusals."""

from tributary.access.audit import audit_refusal
from tributary.access.tokens import authenticate, new_token, token_hash

__all__ = ["audit_refusal", "authenticate", "new_token", "token_hash"]
