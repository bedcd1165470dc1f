"""Table images as measures ask for it: which product, category and role each listed or labelled image has."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from eds.pairs import Flags, Integers, Pairs, encode_distinct, to_dictionary, to_text


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Arrays by row of table images have one place more, the last, for images that are not in it."""

    images: pd.DataFrame
    _places: dict[Pairs, tuple[Integers, Integers]] = field(default_factory=dict)

    def places(self, of: Pairs) -> tuple[Integers, Integers]:
        """The rows that show these queries and candidates, (n,) int64 each, -1 for what is not in the catalogue."""
        if of not in self._places:
            both = encode_distinct(pa.concat_arrays([of.queries, of.candidates]), to_text(self.images["image_id"]))
            self._places[of] = both[: len(of.queries)], both[len(of.queries) :]
        return self._places[of]

    @cached_property
    def product(self) -> Integers:
        """(rows + 1,) int64: a number for each product, from 0; -1 for none."""
        return np.append(self._codes("product_id"), -1)

    @cached_property
    def category(self) -> Integers:
        """(rows + 1,) int64: a number for each category, or for having none; -1 for images that are not there."""
        return np.append(self._codes("category"), -1)

    def is_only(self, role: str) -> Flags:
        """(rows + 1,) bool: which images have this role and no other."""
        if "role" not in self.images.columns:
            return np.zeros(len(self.images) + 1, np.bool_)
        result = pc.fill_null(pc.equal(to_text(self.images["role"]), role), False)
        return np.append(result.to_numpy(zero_copy_only=False), False)

    def silent(self, labelled: Pairs) -> int:
        """How many queries are none of the labelled ones; 0 where the catalogue does not say who is a query."""
        if "role" not in self.images.columns:
            return 0
        asks = ~self.is_only("candidate")
        rows = self.places(labelled)[0]
        return int(asks[:-1].sum() - asks[rows[rows >= 0]].sum())

    def _codes(self, column: str) -> Integers:
        codes: Integers = to_dictionary(pc.fill_null(to_text(self.images[column]), "")).indices.to_numpy()
        return codes.astype(np.int64)
