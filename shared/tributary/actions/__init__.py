"""actions: durable actions, side effects that happen once; begun before the effect, in doubt when nobody can tell."""

from tributary.actions.actions import Actions

__all__ = ["Actions"]
