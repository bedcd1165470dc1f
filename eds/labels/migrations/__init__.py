"""How the schema came to be: one file a version, never changed afterwards."""
