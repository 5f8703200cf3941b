"""learn: admit -> screen -> embed -> candidates -> judge -> commit; and contest, reinforce, settle, distill."""

from tributary.learn.admit import draft_of
from tributary.learn.deadline import Deadline
from tributary.learn.deciding import Decider
from tributary.learn.distilling import Distilling
from tributary.learn.judging import Bench
from tributary.learn.pipeline import Attempt, Learner
from tributary.learn.proposal import Resolution, Stored
from tributary.learn.replies import learned, resolved
from tributary.learn.settling import Pended, Settled
from tributary.learn.telling import Telling

__all__ = [
    "Attempt",
    "Bench",
    "Deadline",
    "Decider",
    "Distilling",
    "Learner",
    "Pended",
    "Resolution",
    "Settled",
    "Stored",
    "Telling",
    "draft_of",
    "learned",
    "resolved",
]
