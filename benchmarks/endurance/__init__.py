"""Loads a real server for minutes, as many agents of many tribes do, and says whether it stayed as it was (docs/load.md)."""
