"""The versions; Alembic finds them by folder."""
