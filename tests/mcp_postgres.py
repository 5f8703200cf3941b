"""A program that speaks MCP on its streams and has one tool, `query`, over a database; it writes down what it is called with.

Arguments: the database's URL, and a file for the statements.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import psycopg
from mcp.server.mcpserver import MCPServer
from psycopg.rows import dict_row


def main(url: str, calls: str) -> None:
    server = MCPServer("postgres")

    @server.tool(structured_output=False)
    def query(sql: str) -> str:
        with Path(calls).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(sql) + "\n")
        with psycopg.connect(url, row_factory=dict_row) as connection:
            connection.read_only = True
            return json.dumps(connection.execute(sql.encode()).fetchall(), default=str)

    server.run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
