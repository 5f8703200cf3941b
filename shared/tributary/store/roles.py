"""The roles that running code assumes where one login does all; `sql/migrations/0000_bootstrap.sql` makes them, and others."""

OWNER = "tributary_owner"
RUNTIME = "tributary_runtime"
