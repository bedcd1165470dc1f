"""How fast pictures are drawn: `python tests/speed/drawing.py [--size 768]`.

CPU seconds of one process, encoding and writing included, so that the figure holds on a busy machine; the demo's mix is
one snapshot in sixty. Goal: 60 pictures of 768 pixels a second on two cores, so at most 33 ms each.

Measured (Xeon, 2 cores shared with other work): 20 ms a studio view, 37 ms a snapshot, so 97 pictures a second on two
cores. Before smooth light was painted at a quarter of the size and enlarged in numpy it was 31 and 61 ms. Filling
outlines is a tenth of the time: another rasteriser (skia, aggdraw) would not be felt.
"""

import argparse
import tempfile
import time
from pathlib import Path

from eds.synthetic.catalogue import Plan, _draw_picture, _pictures

CORES = 2


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=768)
    options.add_argument("--count", type=int, default=60)
    chosen = options.parse_args()
    pictures = _pictures(Plan(products=chosen.count, views=2, wild=chosen.count, size=chosen.size))
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        for wild in (False, True):
            some = [picture for picture in pictures if picture.wild == wild]
            for picture in some[:5]:  # what is made once: grain, prints
                _draw_picture(Path(folder), picture, chosen.size)
            start = time.process_time()
            for picture in some:
                _draw_picture(Path(folder), picture, chosen.size)
            spent[wild] = (time.process_time() - start) / len(some)
            print(f"{'snapshot' if wild else 'studio view'}: {1e3 * spent[wild]:.1f} ms of CPU")
    mean = (59 * spent[False] + spent[True]) / 60
    print(f"{CORES / mean:.0f} pictures of {chosen.size} pixels a second on {CORES} cores (goal: 60)")


if __name__ == "__main__":
    main()
