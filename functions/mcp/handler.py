"""Lambda function `mcp`: the memory as tools of the Model Context Protocol, as streamable HTTP without sessions."""

from tributary.edges.mcp import mcp_handler

handler = mcp_handler()
