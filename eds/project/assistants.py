"""Second judges that never vote: their answers are kept apart from the labels, and no expert sees them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.errors import ImageError, InputError, ProjectError
from eds.project.inputs import PAIR, Inputs
from eds.project.results import Result

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from eds.analysis.judge_estimates import JudgeEstimate
    from eds.pairs import Flags, Reals
    from eds.project import Project

FOLDER = "assistants"
CHUNK = 20  # answers of an endpoint that are stored at once
NONSENSE = 5  # unreadable answers, and a fifth of all, at which asking ends
FAMILIES = ("siglip", "clip", "dino", "beit", "convnext", "resnet", "efficientnet", "swin", "eva", "blip", "mobilenet")
LEARNED = "relevance model"


@dataclass(frozen=True)
class AssistantAnswers(Result):
    """What an assistant has said by now."""

    name: str
    kind: str  # file, relevance model, or model at its address
    pairs: int
    answered: int  # of them, with an answer other than unsure
    new: int
    unreadable: int = 0
    cost: float = 0.0  # of the calls just made
    labels_before: int = 0  # judged pairs that it may have been fitted on; 0 where it is blind


@dataclass(frozen=True)
class AssistantsResult(Result):
    """The assistants of a project."""

    table: "pd.DataFrame"  # name, kind, family, pairs, answered


@dataclass(frozen=True)
class AssistantAgreement(Result):
    """How far an assistant agrees with the decided labels, by slice."""

    name: str
    table: "pd.DataFrame"  # slice, group, pairs, agreement, low, high, kappa, experts, assistant, overrating
    note: str = ""  # why it may agree better than it would on other pairs


@dataclass(frozen=True)
class AssistantEstimates(Result):
    """Rates with and without an assistant."""

    name: str
    table: "pd.DataFrame"  # quantity, model, rate, low, high, plain, plain_low, plain_high, power, worth, hours, note
    labelled: int
    hours_saved: float  # most that any of them saves
    family: str = ""
    note: str = ""  # why it is not used at all


@dataclass(frozen=True)
class Assistants:
    """The assistants of a project."""

    project: "Project"

    def import_answers(self, name: str, file: str | Path, *, family: str = "", blind: bool = False) -> AssistantAnswers:
        """Store the answers of a file (query_id, candidate_id, value from 0 to 1 or empty), all or none.

        `family` is what the judge is made of, as "clip": models of that family are not judged with its help. `blind`
        says that it was not fitted on labels of the same queries: without it, answers that come after the labels
        correct no estimate, since a judge that was fitted on the labels looks better than it is.
        """
        from eds.project.price import judged_pairs

        inputs = Inputs(self.project)
        table = _answers_of(Path(file), inputs)
        before = 0 if blind else len(judged_pairs(inputs))
        made = {"file": Path(file).name, "family": family, "labels_before": before}
        return self._store(name, table, "file", made, table, labels_before=before)

    def learn(self, name: str = "relevance") -> AssistantAnswers:
        """Store what the relevance model says of every suspect, cross-fitted by queries."""
        from eds.project.pair_relevance import pair_relevance

        inputs = Inputs(self.project)
        pairs = _asked(inputs, ())
        inputs.decided_pairs()  # it learns from them
        found = pair_relevance(inputs, pairs)
        table = found.pairs.rename(columns={"probability": "value"})
        return self._store(name, table, LEARNED, {"learner": found.model.learner}, table)

    def ask(self, name: str, *, limit: int | None = None, origins: Sequence[str] = ()) -> AssistantAnswers:
        """Ask the model of eds.toml about suspects that it has not judged, in their order; goes on where it stopped.

        What it costs is said before, and refused above the caps of eds.toml. Answers are stored as they come.
        """
        from eds.project.assistant_endpoint import Endpoint, UnreadableError, check_settings

        project, inputs = self.project, Inputs(self.project)
        settings = check_settings(project)
        before = self._answers(name) if self._path(name).exists() else None
        pairs = _asked(inputs, origins)
        if before is not None and len(before):
            done = pairs.merge(before[PAIR].assign(done=True), on=PAIR, how="left")["done"].notna()
            pairs = pairs[~done.to_numpy()]
        pairs = pairs if limit is None else pairs.head(limit)
        spent = 0 if before is None else len(before)
        _check_caps(settings, len(pairs), spent)
        project.say(
            f"Asks {len(pairs):,} calls of {settings.model}, {settings.price * len(pairs):,.2f} at "
            f"{settings.price:g} each; two pictures a call go to {settings.url}."
        )
        project.would_begin("compute", f"{len(pairs):,} calls of {settings.model}", f"at {settings.url}")
        images = inputs.read("images").drop_duplicates("image_id").set_index("image_id")
        rows: list[tuple[str, str, float | None]] = []
        unreadable, stored, last = 0, None, ""
        made = {"model": settings.model, "family": settings.model}

        def keep() -> AssistantAnswers:
            import pandas as pd

            new = pd.DataFrame(rows, columns=[*PAIR, "value"]).astype({"value": "float64"})
            every = new if before is None else pd.concat([before, new], ignore_index=True)
            return self._store(name, every, settings.model, made, new, unreadable, settings.price * (len(rows)))

        with Endpoint(project) as endpoint, project.progress("asking", "pairs") as progress:
            for number, (query, candidate) in enumerate(pairs[PAIR].itertuples(index=False, name=None), 1):
                try:
                    rows.append((query, candidate, endpoint.judge(images.loc[query], images.loc[candidate])))
                except ImageError as error:  # it cannot tell
                    rows.append((query, candidate, None))
                    project.say(f"{error}")
                except UnreadableError as error:
                    unreadable, last = unreadable + 1, str(error)
                    if unreadable >= max(NONSENSE, number / 5):
                        if rows:
                            keep()
                        raise InputError(
                            f"{unreadable:,} of {number:,} answers are none of similar, different, unsure",
                            where=settings.url,
                            hint=f"The last was {last!r}. {len(rows):,} answers are kept. Try another model.",
                        ) from error
                except InputError:
                    if rows:
                        keep()
                    raise
                if number % CHUNK == 0 and rows:
                    stored = keep()
                progress(number, len(pairs))
        return keep() if rows or stored is None else stored

    def list(self) -> AssistantsResult:
        """Every assistant: what it is, and how much it has answered."""
        import pandas as pd

        from eds import tables

        rows = []
        for path in sorted((self.project.root / FOLDER).glob("*.parquet")):
            made, count = tables.read_provenance(path, tables.ASSISTANT)
            answered = int(tables.read(path, tables.ASSISTANT)["value"].notna().sum())
            rows.append((path.stem, made.notes.get("kind"), made.notes.get("family", ""), count, answered))
        return AssistantsResult(pd.DataFrame(rows, columns=["name", "kind", "family", "pairs", "answered"]))

    def remove(self, name: str) -> AssistantsResult:
        """Delete an assistant's answers; labels are not touched."""
        self._answers(name)
        if not self.project.would("delete", self._path(name)):
            self._path(name).unlink()
        return self.list()

    def agreement(self, name: str) -> AssistantAgreement:
        """How far it agrees with the labels: kappa and overrating, of all pairs, by category, by origin, on gold."""
        inputs = Inputs(self.project)
        answers = self._answers(name).dropna(subset="value")
        return AssistantAgreement(name, _agreement(inputs, answers), _fitted(self._made(name)))

    def estimate(self, name: str, *, k: int | None = None, confidence: float = 0.95) -> AssistantEstimates:
        """p, p_k and each pool model's P@k with the assistant's help (PPI++), what that saves, or that it is of no use.

        Rates are of pairs of images. Of a model of the assistant's own family nothing is corrected.
        """
        import numpy as np
        import pandas as pd

        from eds.analysis.judge_estimates import estimate_rate
        from eds.project.budget import seconds_per_label

        project, inputs = self.project, Inputs(self.project)
        inputs.decided_pairs()
        made = self._made(name)
        answers, kind = self._answers(name), str(made.get("kind"))
        hour = seconds_per_label(project).value * project.config.budget.experts / 3600
        rows = []
        fitted = _fitted(made)
        for quantity, model, frame in _populations(inputs, k or project.config.suspects.k, answers):
            note, said = "not used" if fitted else "", frame["said"].to_numpy("float64", copy=True)
            if fitted:
                said[:] = math.nan
            elif model and (
                shared := _shared_family(f"{made.get('family', '')} {kind}", f"{model} {_spec(project, model)}")
            ):
                note, said[:] = f"of the assistant's family ({shared}): not corrected", math.nan
            columns = ("value", "weight", "of_both", "of_answers")
            value, weight, of_both, of_answers = (frame[column].to_numpy("float64") for column in columns)
            query = pd.factorize(frame["query_id"], sort=True)[0].astype("int64")
            found = estimate_rate(
                query,
                value,
                weight,
                said,
                np.ones(len(frame)),
                of_both=of_both,
                of_answers=of_answers,
                level=confidence,
                seed=project.config.project.seed,
            )
            rows.append(_row(quantity, model, found, hour, note, kind))
        if not rows:
            raise InputError("there is no pool", where="table suspects", hint="Make it: eds suspects pool.")
        table = pd.DataFrame(rows)
        return AssistantEstimates(
            name, table, len(inputs.decided_pairs()), float(table["hours"].max()), str(made.get("family", "")), fitted
        )

    def _path(self, name: str) -> Path:
        from eds.tables import check_model_name

        return self.project.root / FOLDER / f"{check_model_name(name)}.parquet"

    def _answers(self, name: str) -> "pd.DataFrame":
        from eds import tables

        path = self._path(name)
        if not path.exists():
            known = ", ".join(file.stem for file in sorted(path.parent.glob("*.parquet"))) or "none"
            raise ProjectError(
                f"no assistant {name}", where=str(path.parent), hint=f"There are: {known}. See eds assistant --help."
            )
        return tables.read(path, tables.ASSISTANT)

    def _made(self, name: str) -> dict[str, Any]:
        from eds import tables

        self._answers(name)
        return dict(tables.read_provenance(self._path(name), tables.ASSISTANT)[0].notes)

    def _store(
        self,
        name: str,
        table: "pd.DataFrame",
        kind: str,
        made: dict[str, Any],
        new: "pd.DataFrame",
        unreadable: int = 0,
        cost: float = 0.0,
        labels_before: int = 0,
    ) -> AssistantAnswers:
        from eds import tables

        path = self._path(name)
        if path.exists() and (before := self._made(name).get("kind")) != kind:
            hint = f"Choose another name, or remove it first: eds assistant remove {name}."
            raise InputError(f"assistant {name} is another one ({before})", where=str(path), hint=hint)
        answered = int(table["value"].notna().sum())
        result = AssistantAnswers(name, kind, len(table), answered, len(new), unreadable, cost, labels_before)
        if self.project.would_write(path, f"{len(table):,} pairs"):
            return result
        with self.project.writing("assistants"):
            path.parent.mkdir(exist_ok=True)
            provenance = self.project.provenance(
                "assistants", {}, [self.project.path("suspects")], notes={"kind": kind, **made}
            )
            tables.write(table[[*PAIR, "value"]], tables.ASSISTANT, path, provenance)
        return result


def _check_caps(settings: Any, calls: int, spent: int) -> None:
    faults = []
    if spent + calls > settings.max_calls:
        faults.append(f"{spent + calls:,} calls with those before; assistant.max_calls is {settings.max_calls:,}")
    if settings.max_cost and (spent + calls) * settings.price > settings.max_cost:
        faults.append(
            f"a cost of {(spent + calls) * settings.price:,.2f} with that before; assistant.max_cost is "
            f"{settings.max_cost:,.2f}"
        )
    if faults:
        raise InputError(
            "more than the caps of eds.toml allow", where="[assistant]", hint="Ask fewer: --limit.", faults=faults
        )


def _answers_of(file: Path, inputs: Inputs) -> "pd.DataFrame":
    """The answers in a file."""
    import pandas as pd

    from eds.io.reading import reading

    if not file.is_file():
        raise InputError(f"no file {file.name}", where=str(file), hint="Give a CSV or Parquet file.")
    with reading(file, "the file cannot be read", "Give CSV or Parquet."):
        text = dict.fromkeys(PAIR, "str")
        frame = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file, dtype=text)
        return _checked(frame, inputs, str(file))


def _checked(frame: "pd.DataFrame", inputs: Inputs, where: str) -> "pd.DataFrame":
    """The distinct answers; refused with every fault."""
    import pandas as pd

    if lacking := [name for name in (*PAIR, "value") if name not in frame.columns]:
        raise InputError(
            f"column {', '.join(lacking)} is missing", where=where, hint="Give query_id, candidate_id and value."
        )
    value = pd.to_numeric(frame["value"], errors="coerce")
    table = frame[PAIR].astype(str).assign(value=value.astype("float64")).drop_duplicates(ignore_index=True)
    faults = []
    if wrong := int((value.isna() & frame["value"].notna()).sum() + ((value < 0) | (value > 1)).sum()):
        faults.append(f"{wrong:,} values are not from 0 to 1")
    if torn := int(table.duplicated(PAIR).sum()):
        faults.append(f"{torn:,} pairs have two answers that differ")
    known = inputs.images()["image_id"]
    if strange := int((~table[PAIR[0]].isin(known) | ~table[PAIR[1]].isin(known)).sum()):
        faults.append(f"{strange:,} pairs name images that the catalogue lacks")
    if not len(table):
        faults.append("it has no answer")
    if faults:
        raise InputError("the answers cannot be used", where=where, hint="Correct the file.", faults=faults)
    return table


def _asked(inputs: Inputs, origins: Sequence[str]) -> "pd.DataFrame":
    """The distinct suspects in the order of judging, without gold and repeats."""
    suspects = inputs.read("suspects")
    wanted = list(origins) or ["pool", "random", "negative"]
    return suspects[suspects["origin"].isin(wanted)].sort_values("position").drop_duplicates(PAIR)[PAIR]


def _populations(inputs: Inputs, k: int, answers: "pd.DataFrame") -> "list[tuple[str, str, pd.DataFrame]]":
    """By quantity and model its pairs.

    Columns: query_id, candidate_id, value (NaN without a label), said (NaN without an answer), and how many pairs one
    stands for with a label (weight), with both (of_both), with an answer (of_answers).
    """
    import numpy as np

    from eds.analysis.labelled_sample import pool_weights
    from eds.suspects import sources_frame

    suspects, known = inputs.read("suspects"), inputs.decided_pairs()
    said = answers.dropna(subset="value").rename(columns={"value": "said"})
    result = []
    pool = suspects[suspects["origin"] == "pool"].drop_duplicates(PAIR).reset_index(drop=True)
    drawn = suspects[(suspects["origin"] == "random") & suspects["stratum"].fillna("").str.startswith("all")]
    if len(drawn) and len(set(drawn["probability"])) == 1:
        part = drawn[PAIR].drop_duplicates().merge(known, on=PAIR, how="left").merge(said, on=PAIR, how="left")
        inside = part.merge(pool[PAIR].assign(pooled=True), on=PAIR, how="left")["pooled"].notna().to_numpy()
        judged, answered = part["value"].notna().to_numpy(), part["said"].notna().to_numpy()
        complete = all((side & judged).any() or not side.any() for side in (inside, ~inside))
        part["weight"], part["of_both"], part["of_answers"] = (
            _by_side(inside, rows) for rows in (judged, judged & answered, answered)
        )
        part["value"] = part["value"].astype("float64") if complete else np.nan
        result.append(("p", "", part))
    if not len(pool):
        return result
    part = pool[PAIR].merge(known, on=PAIR, how="left").merge(said, on=PAIR, how="left")
    part["weight"], part["of_both"], part["of_answers"] = (
        pool_weights(pool, rows) for rows in (known, known.merge(said[PAIR], on=PAIR), said)
    )
    part["value"] = part["value"].astype("float64").where(part["weight"] > 0)
    result.append(("p_k", "", part))
    proposed = sources_frame(pool)
    for model, rows in proposed[proposed["rank"] < k].groupby("model", sort=True):
        result.append((f"P@{k}", str(model), rows[PAIR].drop_duplicates().merge(part, on=PAIR)))
    return result


def _by_side(inside: "Flags", rows: "Flags") -> "Reals":
    """How many draws each of `rows` stands for: those inside the pool are judged with it, so each side for itself."""
    import numpy as np

    weight = np.zeros(len(rows))
    for side in (inside, ~inside):
        weight[side & rows] = side.sum() / max((side & rows).sum(), 1)
    return weight


def _row(quantity: str, model: str, found: "JudgeEstimate", hour: float, note: str, kind: str) -> dict[str, Any]:
    notes = [note] if note else []
    if found.saw_labels:
        notes.append("it answers labelled pairs otherwise than the others: it copies the labels, and is left out")
    elif not found.labelled:
        notes.append("too few labels")
    elif not found.useful and not note:
        notes.append("no use here")
    if model and kind == LEARNED and found.useful:
        notes.append("it rests on the models' own scores")
    if found.answered < found.pairs and not note:
        notes.append(f"answered {found.answered:,} of {found.pairs:,}")
    none = found.interval.no_interval, found.plain_interval.no_interval
    return {
        "quantity": quantity,
        "model": model,
        "rate": found.rate,
        "low": found.interval.low,
        "high": found.interval.high,
        "no_interval": none[0],
        "plain": found.plain,
        "plain_low": found.plain_interval.low,
        "plain_high": found.plain_interval.high,
        "labelled": found.labelled,
        "power": found.power if found.useful else 0.0,
        "worth": found.worth,
        "hours": (found.worth - 1) * found.labelled * hour,
        "note": "; ".join(notes),
    }


def _fitted(made: dict[str, Any]) -> str:
    """Why answers of a file correct nothing: they may come from the labels; empty where they cannot."""
    count = int(made.get("labels_before", 0))
    if not count:
        return ""
    return (
        f"{count:,} pairs were judged before its answers came; if it is fitted on them, it looks better than it is. "
        "If it is not, import it with --blind."
    )


def _agreement(inputs: Inputs, answers: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    known = inputs.decided_pairs().merge(answers, on=PAIR, suffixes=("", "_said"))
    known = known.assign(said=(known["value_said"] >= 0.5).astype("int64"))
    if not len(known):
        raise InputError(
            "the assistant has judged no pair that has a label", where="assistant", hint="Let it judge labelled pairs."
        )
    category = inputs.images().drop_duplicates("image_id").set_index("image_id")["category"]
    origin = inputs.suspects.drop_duplicates([*PAIR, "origin"])[[*PAIR, "origin"]]
    rows = [_slice("all", "", known)]
    by = known.assign(group=known["query_id"].map(category)).dropna(subset="group")
    rows += [_slice("category", str(name), part) for name, part in by.groupby("group", sort=True)]
    rows += [_slice("origin", str(name), part) for name, part in known.merge(origin, on=PAIR).groupby("origin")]
    gold = origin[origin["origin"] == "gold"]
    if inputs.project.path("labels").exists() or inputs.project.config.labels.url:
        from eds.project.decide import read_votes

        gold = read_votes(inputs.project).gold
        if len(gold) and len(part := gold.merge(answers, on=PAIR, suffixes=("", "_said"))):
            part = part.assign(value=part["value"].astype("int64"), said=(part["value_said"] >= 0.5).astype("int64"))
            rows.append(_slice("gold", "", part))
    return pd.DataFrame(rows)


def _slice(kind: str, group: str, part: "pd.DataFrame") -> dict[str, Any]:
    from eds.intervals import rate_interval

    truth, said = (part[name].to_numpy("int64") for name in ("value", "said"))
    alike = part.assign(alike=truth == said).groupby("query_id")["alike"].agg(["sum", "size"])
    interval = rate_interval(alike["sum"].to_numpy(), alike["size"].to_numpy())
    return {
        "slice": kind,
        "group": group,
        "pairs": len(part),
        "agreement": float((truth == said).mean()),
        "low": interval.low,
        "high": interval.high,
        "no_interval": interval.no_interval,
        "kappa": _kappa(truth, said),
        "experts": float(truth.mean()),
        "assistant": float(said.mean()),
        "overrating": float(said.mean() - truth.mean()),
    }


def _kappa(truth: "np.ndarray[Any, Any]", said: "np.ndarray[Any, Any]") -> float:
    """Cohen's kappa; NaN where chance alone agrees on everything."""
    first, second = float(truth.mean()), float(said.mean())
    chance = first * second + (1 - first) * (1 - second)
    return (float((truth == said).mean()) - chance) / (1 - chance) if chance < 1 else math.nan


def _shared_family(assistant: str, model: str) -> str:
    """The family that both texts name, empty if none.

    >>> _shared_family("clip-like vlm", "open_clip:ViT-B-32@openai"), _shared_family("gpt", "timm:resnet50")
    ('clip', '')
    """
    texts = assistant.lower(), model.lower()
    return next((name for name in FAMILIES if all(name in text for text in texts)), "")


def _spec(project: "Project", model: str) -> str:
    return next((entry.spec for entry in project.config.models if entry.name == model), "")
