"""Which candidates a list may hold, and how long it is."""

from dataclasses import dataclass
from typing import Literal, get_args

from eds.errors import InputError

COLUMNS = ("image_id", "product_id", "category", "role")  # of table images: all that the rules and a search look at
Category = Literal["any", "same", "other"]


@dataclass(frozen=True)
class Rules:
    """The rules of a list. The query image itself is always left out.

    The benchmark's rule is the default: no image of the query's own product, and of every other
    product its best image only.

    >>> Rules(k=0)
    Traceback (most recent call last):
    eds.errors.InputError: Rules: k is 0. Give a number from 1 up.
    """

    k: int
    exclude_product: bool = True  # leave out images of the query's own product
    one_per_product: bool = True  # keep only the best image of each product
    category: Category = "any"  # "same": only candidates of the query's category; "other": only of others
    keep_ties: bool = False  # keep all that score exactly as the k-th does, however many

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError(f"k is {self.k!r}", where="Rules", do="Give a number from 1 up.")
        if self.category not in get_args(Category):
            raise InputError(f"category is {self.category!r}", where="Rules", do="Give any, same or other.")
