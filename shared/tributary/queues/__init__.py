"""queues: how work that can wait a moment is handed to whoever does it."""
