"""The limits that the API states. The library enforces the same ones again (a test holds the two together)."""

TEXT_BYTES = 8 * 1024
SITUATION_BYTES = 2 * 1024
RATIONALE_BYTES = 8 * 1024
QUERY_BYTES = 8 * 1024
SUBJECT_CHARACTERS = 200
TAGS = 32
TAG_KEY_CHARACTERS = 64
TAG_VALUE_CHARACTERS = 200
EVIDENCE_ITEMS = 16
RECEIPTS = 8
REPLACES = 8
EVIDENCE_CHARACTERS = 2000
REF_CHARACTERS = 2000
RECALL_LIMIT = 100
CHANGES_LIMIT = 500
CHANGES_WAIT_S = 20
BATCH_LESSONS = 100
POLICY_RULES = 16
CAPACITY = 100_000_000
COST_DAYS = 400
ACTIVITY_HOURS = 24 * 31
EVALUATION_RUNS = 50
IDEMPOTENCY_KEY_CHARACTERS = 200
TRANSCRIPT_BYTES = 200 * 1024
TRANSCRIPT_TURNS = 2000
TRANSCRIPT_REF_CHARACTERS = 1900
DISTILLED_LESSONS = 5
GOLDEN_CHARACTERS = 100
RESPONDER_MESSAGE_BYTES = 8 * 1024
RESPONDER_CONVERSATION = 20
RESPONDER_CONVERSATION_BYTES = 32 * 1024
RESPONDER_TURN_S = 60
ACTION_KEY_CHARACTERS = 200
ACTION_DESCRIPTION_CHARACTERS = 500
ACTION_FAILURE_CHARACTERS = 500
ACTION_RESULT_BYTES = 16 * 1024
ACTION_RESULT_DEPTH = 64
"""Far from where readers of JSON give up, since a reply wraps results in some levels more."""
ACTION_LEASE_S = 3600

BODY_BYTES = 64 * 1024
"""The largest body of one request."""
VERIFY_BYTES = 256 * 1024
"""The largest receipt with its query, where JSON escapes each character of what a recall of BODY_BYTES asked."""
BATCH_BYTES = 4 * 1024 * 1024
"""The largest body of a batch."""
DISTILL_BYTES = 2 * 1024 * 1024
"""The largest body with a transcript, where JSON escapes each character of it and names each turn."""
EVIDENCE_BYTES = 10 * 1000 * 1000
"""The largest evidence file."""
EVIDENCE_NAME_CHARACTERS = 200
REQUEST_BYTES = 10 * 1000 * 1000
"""API Gateway refuses larger requests."""
EVENT_BYTES = 6 * 1024 * 1024
"""Lambda refuses larger events."""
TIMEOUT_S = 30
"""An HTTP API gives up on its integration after this long."""
