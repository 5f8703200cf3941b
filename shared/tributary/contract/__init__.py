"""The HTTP contract: request and reply models, limits, error codes, routes. Imports nothing else of ours."""
