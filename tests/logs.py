"""The library's logger, lent to a test that configures it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logger_as_it_was() -> Iterator[None]:
    """Gives the library's logger back as it was before the block, with what was opened for it closed."""
    logger = logging.getLogger("tributary")
    handlers, level, propagate = list(logger.handlers), logger.level, logger.propagate
    try:
        yield
    finally:
        for handler in logger.handlers:
            if isinstance(handler, logging.FileHandler):
                handler.close()
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)
