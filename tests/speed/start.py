"""How quickly the command line answers: `eds --help` against the bare start of click."""

import subprocess
import sys

from tests.timing import best


def start(*program: str) -> None:
    """Start Python and wait for its end."""
    subprocess.run([sys.executable, *program], capture_output=True, check=True)


def main() -> None:
    """Print the ratio; the goal is at most 1.3."""
    bare = best(lambda: start("-c", "import click"), 15)
    ours = best(lambda: start("-m", "eds.cli", "--help"), 15)
    print(f"import click {bare * 1000:.0f} ms, eds --help {ours * 1000:.0f} ms: {ours / bare:.2f}x (goal: at most 1.3)")


if __name__ == "__main__":
    main()
