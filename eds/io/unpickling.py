"""The base of readers of foreign pickles: those build plain values only, and take no more memory than the file holds.

The C implementation keeps what a pickle numbers in an array as long as the largest number, so that ten bytes can ask
for 64 GB; the one in Python keeps a dictionary.
"""

import pickle
from typing import Any


class PlainUnpickler(pickle._Unpickler):
    """An unpickler that knows nothing: subclasses allow what they read."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse every global."""
        raise pickle.UnpicklingError(f"unexpected {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        """Refuse every reference to something outside of the pickle."""
        raise pickle.UnpicklingError("asks for something outside of itself")
