"""The folder `embeddings/<model>/`: the one table that is not a frame.

    00000.npy 00001.npy ...   the vectors, memory-mapped; a shard is never changed once it is written
    ids.parquet               table `embeddings`: which image stands in which row of which shard
    model.json                what made them, and the digest of every shard; written last
    timing.json               how long it took: apart, so that equal vectors have equal descriptions

`Vectors.open(folder)` reads; `Writer` writes shard by shard, survives kill -9 and brings a folder up
to date; `write` does it all for vectors that fit in memory; `open_remote` and `copy_remote` take an address
(`s3://...`). Binary codes are stored as packed bits
(numpy's order: the first bit is the highest of its byte). Not here: how vectors are made.
"""

from eds.vectors.folder import lost_ids
from eds.vectors.model import Model, Shard, lost_shards, pack, read_model, stored_dtype, stored_width, unpack
from eds.vectors.reading import Vectors
from eds.vectors.remote import copy_remote, open_remote
from eds.vectors.verified import altered_shards
from eds.vectors.writing import SHARD_ROWS, Writer, bad_rows, usable, write

__all__ = [
    "SHARD_ROWS",
    "Model",
    "Shard",
    "Vectors",
    "Writer",
    "altered_shards",
    "bad_rows",
    "copy_remote",
    "lost_ids",
    "lost_shards",
    "open_remote",
    "pack",
    "read_model",
    "stored_dtype",
    "stored_width",
    "unpack",
    "usable",
    "write",
]
