"""The two roles of the schema (`sql/migrations/0000_bootstrap.sql` makes them)."""

OWNER = "tributary_owner"
RUNTIME = "tributary_runtime"
