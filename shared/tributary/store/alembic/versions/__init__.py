"""One file a revision; the SQL is in `store/sql/migrations/<revision>_<name>/`."""
