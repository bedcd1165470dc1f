"""The annotator with a wall clock that a file moves: `python -m tests.faults.moved_clock FILE --project DIR ...`.

The file holds seconds to add, and is read again whenever the time is asked for. Waiting is not affected, as where an
administrator sets the clock.
"""

import sys
import time
from pathlib import Path


def main() -> None:
    """Move the clock, and be the annotator."""
    file, whole = Path(sys.argv.pop(1)), time.time_ns

    def moved() -> int:
        return whole() + int(file.read_text() or 0) * 10**9

    time.time_ns = moved
    time.time = lambda: moved() / 1e9
    from annotator_ui.__main__ import main as serve

    serve()


if __name__ == "__main__":
    main()
