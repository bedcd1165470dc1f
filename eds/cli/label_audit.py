"""`eds labels audit`: who did which administrative act to whom."""

from eds.cli.console import Console, command
from eds.cli.label_store import tell_found


@command(None, "audit", example="eds labels audit --json")
def audit(console: Console) -> None:
    """List every act on accounts, campaigns, guidelines, gold and flags: when, by whom, on what; the oldest first."""
    from eds.labels.audit import read_audit

    tell_found(console, read_audit, "Nothing was done yet.")
