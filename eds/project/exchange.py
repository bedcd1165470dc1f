"""Benchmarks of others, imported."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eds.benchmarks import Benchmark
    from eds.project import Project


def take_in(
    project: "Project",
    kind: str,
    benchmark: "Benchmark",
    operation: str,
    params: "Mapping[str, Any]",
    *,
    replace: bool = False,
    campaign: str | None = None,
    apart: bool = False,
) -> dict[str, Any]:
    """Check the benchmark against the project, then write it; the caller holds the project.

    Tables that another kind of operation made are replaced only with `replace`.
    """
    from eds.benchmarks.formats import hf_files
    from eds.benchmarks.validate import checked, of_the_project, refuse_apart, set_apart
    from eds.project import import_votes
    from eds.project.transaction import refuse_others, together
    from eds.tables import check_model_name

    if benchmark.votes is not None:
        benchmark = benchmark.with_(votes=import_votes.ours(benchmark.votes, benchmark.places["votes"]))
    own = project.read("images") if project.path("images").exists() else None
    given_benchmark = benchmark
    benchmark, from_project = of_the_project(benchmark, own, project.image_root, replace=replace)
    if apart and from_project and own is not None:
        refuse_apart(given_benchmark, own)
    benchmark = set_apart(benchmark) if apart else benchmark
    benchmark, faults = checked(benchmark, kept=from_project)
    images, votes = benchmark.images, benchmark.votes
    if votes is not None and images is not None:
        import_votes.check(votes, images["image_id"], benchmark.places["votes"], faults)
    faults.refuse("the benchmark cannot be imported", "Nothing was imported:")
    given_frames: dict[str, Any] = {
        f"neighbors/{check_model_name(model)}": run for model, run in benchmark.runs.items()
    }
    given_frames |= {"truth": benchmark.truth, "suspects": benchmark.suspects} | (
        {} if from_project else {"images": images}
    )
    frames = {name: frame for name, frame in given_frames.items() if frame is not None}
    refuse_others(project, tuple(frames), operation, replace)
    counts, take_votes = import_votes.Counts(), None
    if votes is not None:
        take_votes = import_votes.step(votes, benchmark.places["votes"], campaign, counts)
    parents = [project.path("images")] if from_project else []
    made_by = project.provenance(operation, {}, parents, params=params)
    with together(project) as work, hf_files.unpacked(benchmark, project.image_root, work.picture) as pictures:
        work.put(frames, made_by, take_votes)
    truth = benchmark.truth
    return {
        "format": kind,
        "images": 0 if from_project or images is None else len(images),
        "pictures": pictures,
        "pairs": 0 if truth is None else len(truth),
        "positives": 0 if truth is None else int(truth["value"].sum()),
        "suspects": 0 if benchmark.suspects is None else len(benchmark.suspects),
        "votes": counts.added,
        "runs": {model: len(run) for model, run in benchmark.runs.items()},
        "notes": [*benchmark.notes, *counts.notes],
    }
