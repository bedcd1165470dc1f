"""Signing in and out, sessions, and the middleware before every route."""
