"""Closed sets of values, each written once for commands, settings and functions alike.

A set to which others may add members is a family of plug-ins instead (eds.registry).
"""

from typing import Any, Literal, get_args

from eds.errors import InputError

# images
Layout = Literal["auto", "tree", "category", "product", "flat"]  # what the folders of a scan stand for
FileCheck = Literal["full", "header"]  # decode every image, or read its header
OnBad = Literal["skip", "fail"]
Duplicates = Literal["keep", "merge", "leave-out"]  # images of equal files: as they are, one product, or one image
DuplicateDecision = Literal["keep", "merge", "drop"]  # near duplicates: as they are, one product, or only the first

DemoCatalogue = Literal["furniture", "emoji"]  # real catalogues that the demo knows

# models
MODEL_NAME = "[A-Za-z0-9][A-Za-z0-9._+-]{0,99}"  # what a model may be called
GivenRole = Literal["generator", "evaluated"]  # its lists make the pool, or it is only compared with those that do
ModelRole = Literal["generator", "evaluated", "removed"]  # removed: its vectors and lists are deleted
TrainedOn = Literal["labels", "products", "categories"]  # of this project

# embeddings
Device = Literal["auto", "cpu", "cuda", "mps"]
Runtime = Literal["auto", "torch", "openvino"]
Precision = Literal["float32", "bfloat16", "float16"]  # of inference
StoredType = Literal["float32", "float16"]  # of vectors on disk
MapMethod = Literal["pca", "umap"]  # how vectors are laid out on a plane
Similarity = Literal["cosine", "dot", "hamming"]

# neighbors
CategoryRule = Literal["any", "same", "other"]  # which candidates count, by the query's category

# suspects
UniverseChoice = Literal["rules", "all"]  # pairs that shares are about: that lists may hold, or all (the paper)
Stratum = Literal["all", "outside", "near", "rest"]  # the part of all pairs that a random draw comes from
DrawDesign = Literal["uniform", "strata", "weighted"]  # how random pairs are drawn
ImagePartners = Literal["lists", "each-other"]  # chosen images with what the models find, or among themselves
PairDirections = Literal["keep", "merge"]  # judge (q, c) and (c, q) both, or one of them

# labels
Role = Literal["expert", "lead", "administrator"]
JudgingMode = Literal["pair", "grid"]
WebhookEvent = Literal["label.written", "campaign.finished"]  # what other programs are sent
CampaignQuality = Literal["light", "standard", "strict"]  # how carefully a campaign asks
Polarity = Literal["similar", "different"]  # grid: the label of untouched candidates; pair mode has none
VoteFormat = Literal["csv", "jsonl", "parquet", "crowdkit"]

# analysis
LeaveOneOutMode = Literal["unique", "all"]  # which labels of a pool model are left out
RecallLimits = Literal["simultaneous", "squared"]  # the kind of interval of pool recall

# training
SplitBy = Literal["product", "random", "stratified", "all"]  # all: every image is for training
Searched = Literal["queries", "others", "all"]  # what test queries are compared with
HashObjective = Literal[
    "talr-ap", "talr-ndcg", "dsh", "dispersed-dsh", "two-level-dsh", "hashnet", "orthohash", "cross-entropy"
]  # and the baselines (eds.registry.BASELINES)
Optimizer = Literal["adam", "adamw", "sgd"]
HashHead = Literal["linear", "mlp"]
NetworkObjective = Literal["cross-entropy", "dino"]
NetworkLabels = Literal["product", "category", "both"]
HashLabels = Literal["product", "category", "both", "truth"]
TrainingLog = Literal["csv", "tensorboard"]  # tensorboard: beside the CSV
KeptWeights = Literal["best", "last"]  # which epoch's


def check(kind: Any, value: object, name: str) -> None:
    """Raise InputError if the value is not one of the set's.

    >>> check(OnBad, "stop", "on_bad")
    Traceback (most recent call last):
    eds.errors.InputError: on_bad is 'stop'. Choose one of skip, fail.
    """
    if value not in get_args(kind):
        raise InputError(f"{name} is {value!r}", hint=f"Choose one of {', '.join(get_args(kind))}.")
