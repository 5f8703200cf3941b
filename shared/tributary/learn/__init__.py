"""learn: admit -> screen -> embed -> candidates -> judge -> commit; and reinforce."""

from tributary.learn.pipeline import Learner

__all__ = ["Learner"]
