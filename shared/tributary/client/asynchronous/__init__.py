"""The SDK for asyncio: the same names, awaited. Its modules are made from the blocking ones (docs/sdk.md)."""

from tributary.client.asynchronous.actions import AsyncActions
from tributary.client.asynchronous.curation import AsyncCuration, AsyncListing
from tributary.client.asynchronous.difference import AsyncDiff
from tributary.client.asynchronous.memory import AsyncMemory
from tributary.client.asynchronous.view import AsyncView

__all__ = ["AsyncActions", "AsyncCuration", "AsyncDiff", "AsyncListing", "AsyncMemory", "AsyncView"]
