"""Alembic's script folder; each revision runs plain SQL files of `store/sql/migrations`."""
