"""learn: admit -> screen -> embed -> candidates -> judge -> commit; and contest, reinforce, settle."""

from tributary.learn.deciding import Decider
from tributary.learn.pipeline import Attempt, Learner
from tributary.learn.proposal import Resolution, Stored
from tributary.learn.replies import learned, resolved

__all__ = ["Attempt", "Decider", "Learner", "Resolution", "Stored", "learned", "resolved"]
