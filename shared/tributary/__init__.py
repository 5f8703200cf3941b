"""Shared, persistent, conflict-safe, auditable memory for AI agents."""

__version__ = "0.1.0"
