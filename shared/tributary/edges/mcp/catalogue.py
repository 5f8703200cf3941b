"""All tools, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tributary.contract.route import Role
from tributary.edges.mcp.acting import ACTING
from tributary.edges.mcp.curating import CURATING
from tributary.edges.mcp.reading import READING
from tributary.edges.mcp.tool import Tool
from tributary.edges.mcp.writing import WRITING

TOOLS: Mapping[str, Tool[Any]] = {tool.name: tool for tool in (*READING, *WRITING, *CURATING, *ACTING)}


def tools_of(role: Role) -> list[Tool[Any]]:
    """Returns the tools that an agent of that role may use."""
    return [tool for tool in TOOLS.values() if tool.allows(role)]
