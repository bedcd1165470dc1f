"""One file a page; app.py says who sees which."""
