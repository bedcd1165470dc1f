"""The web application where experts judge and leads look on; started by `eds labels serve`.

`server.py` says how its parts hang together. Logic lives in `eds`; no SQL and no torch here.
"""
