"""`verify --via`: whether another road to the database says what the API says, field by field.

catalogue    the statements that may be asked, and how their answers are read
guarding     lets nothing else out of the process, and writes down what was refused
data_api, mcp_server
             the roads: RDS Data API, and a read-only MCP server for PostgreSQL
roads        what a road is, and why one may give no answer
claims       what the API, or a receipt, says
comparing    holds the one against the other; pure
checking     the steps in order
showing      how the result is told
"""

from tributary.edges.cli.independent.checking import check
from tributary.edges.cli.independent.guarding import Guarded
from tributary.edges.cli.independent.showing import document, exit_of, show
from tributary.edges.cli.independent.wiring import open_road

__all__ = ["Guarded", "check", "document", "exit_of", "open_road", "show"]
