"""`eds labels`: every judgement is kept. The group; its commands stand in the files beside it."""

import click

from eds.cli.label_audit import audit
from eds.cli.label_campaigns import campaigns, status
from eds.cli.label_experts import experts
from eds.cli.label_files import backup, export, import_, restore, upgrade
from eds.cli.label_flags import adjudicate, flags
from eds.cli.label_guidelines import calibration, gold, guideline
from eds.cli.serving import serve

__all__ = ["labels"]


@click.group()
def labels() -> None:
    """Keep every judgement: experts, campaigns, guidelines, flags, import, export, backup."""


PEOPLE = (serve, experts, campaigns, status, guideline, calibration, gold, flags, adjudicate, audit)
FILES = (import_, export, backup, restore, upgrade)
for one in (*PEOPLE, *FILES):
    labels.add_command(one)
