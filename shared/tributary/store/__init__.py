"""PostgreSQL: connections, the schema and its functions, migrations, and the embedded server."""

from tributary.store import failures, rows
from tributary.store.database import Database, Target, connect
from tributary.store.level import CODE_LEVEL, check_level
from tributary.store.queries import statement
from tributary.store.roles import OWNER, RUNTIME

__all__ = ["CODE_LEVEL", "OWNER", "RUNTIME", "Database", "Target", "check_level", "connect", "failures", "rows", "statement"]
