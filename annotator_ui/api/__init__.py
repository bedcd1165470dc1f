"""The API for programs: tasks in, votes out, progress, webhooks; see endpoints.py."""
