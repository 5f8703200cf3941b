"""Import and export: lessons out of documents, and whole tribes out of one database and into another."""
