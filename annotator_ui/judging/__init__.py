"""The judging page: one component in the browser, and the routes it talks to."""
