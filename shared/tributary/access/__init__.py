"""Who may do what: tokens, the agents behind them, sessions of people, and the audit of refusals."""

from tributary.access.admission import SERVER_KEY, Admission, Admitted, Pace, check_key, request_digest
from tributary.access.agents import DAYS, MOST_AGENTS, MOST_TOKENS, Agents, agent_of, make_token, token_of
from tributary.access.audit import audit_refusal
from tributary.access.costs import Bookkeeper
from tributary.access.ledger import Ledger, charged
from tributary.access.principals import authenticate_principal, check_principal
from tributary.access.sessions import Sessions, session_cell_of
from tributary.access.timekeeping import Timekeeper
from tributary.access.tokens import authenticate, cell_of, new_token, token_hash
from tributary.access.turns import Turns
from tributary.access.usage import Usage

__all__ = [
    "DAYS",
    "MOST_AGENTS",
    "MOST_TOKENS",
    "SERVER_KEY",
    "Admission",
    "Admitted",
    "Agents",
    "Bookkeeper",
    "Ledger",
    "Pace",
    "Sessions",
    "Timekeeper",
    "Turns",
    "Usage",
    "agent_of",
    "audit_refusal",
    "authenticate",
    "authenticate_principal",
    "cell_of",
    "charged",
    "check_key",
    "check_principal",
    "make_token",
    "new_token",
    "request_digest",
    "session_cell_of",
    "token_hash",
    "token_of",
]
