"""The name under which eds is installed, its version, and the commands that install its extras."""

NAME = "eds-benchmark"
VERSION = "0.1.0"


def install(extra: str) -> str:
    """The command that installs an extra.

    >>> install("vision")
    'pip install "eds-benchmark[vision]"'
    """
    return f'pip install "{NAME}[{extra}]"'
