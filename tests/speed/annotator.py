"""How fast the annotator is, in real Chromium, as ratios within one run.

Parts: key slow cold grid modes clients writers memory.

    python -m tests.speed.annotator [PART ...]     all parts if none is named

"Floor" is a bare page that swaps prefetched pictures; "plain" a Streamlit page with st.button and st.image.
"""

import sys
import tempfile
from pathlib import Path

from tests.speed.judging.load import clients, memory, writers
from tests.speed.judging.modes import modes
from tests.speed.judging.page import cold, grid, key, slow

PARTS = {
    "key": key,
    "slow": slow,
    "cold": cold,
    "grid": grid,
    "modes": modes,
    "clients": clients,
    "writers": writers,
    "memory": memory,
}


def main() -> None:
    """The parts that are named, or all."""
    named = [word for word in sys.argv[1:] if not word.startswith("-")] or list(PARTS)
    unknown = sorted(set(named) - set(PARTS))
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    for name in named:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            print(f"{name}:", flush=True)
            PARTS[name](Path(folder))


if __name__ == "__main__":
    main()
