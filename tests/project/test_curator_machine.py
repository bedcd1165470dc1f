"""A curator does anything in any order: no label is lost, and no number changes without a sentence that says so.

Few steps in the tests; `EDS_MACHINE=50` runs many.
"""

import os
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from eds.errors import EdsError, InputError
from eds.labels.judgements import Judgement
from eds.project import Project
from eds.tables import Provenance
from tests.project.shops import PAIR, Design, draw_shop, make_project

EXAMPLES = int(os.environ.get("EDS_MACHINE", "2"))
SHOP = draw_shop(Design(products=14, queries=5, models=2, prevalence=0.1), 3)


class Curator(RuleBasedStateMachine):
    """A small project, and what its curator knows of it."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(mkdtemp())
        self.project = make_project(SHOP, self.folder)
        self.project.mine(k=8)
        self.project.pool(k=2)
        self.acts: set[str] = set()  # every judgement that was ever imported
        self.given = 0  # judgements of campaigns
        self.files = 0

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    @rule(k=st.integers(1, 4))
    def pool(self, k: int) -> None:
        before, asked, known = self._pairs("pool"), self._every_pair(), self._known()
        plan = self.project.pool(k=k, dry_run=True).price
        assert self._every_pair() == asked
        done = self.project.pool(k=k)
        after = self._pairs("pool")
        assert plan == done.price
        assert done.price.pairs == len(self._every_pair() - asked - known)
        assert (done.new, done.left, done.size) == (len(after - before), len(before - after), len(after))
        fresh = self.project.read("suspects").query("stratum.str.startswith('pool@')")
        ranks = fresh["sources"].str.findall(r":(\d+)").map(lambda found: min(map(int, found)))
        assert (ranks < k).all()

    @rule(n=st.integers(1, 6))
    def draw(self, n: int) -> None:
        asked, known = self._every_pair(), self._known()
        try:
            plan = self.project.draw_random(n, add=True, dry_run=True).price
            done = self.project.draw_random(n, add=True)
        except InputError:
            return  # too few are left
        assert plan == done.price
        assert done.price.pairs == len(self._every_pair() - asked - known)
        random = self.project.read("suspects").query("origin == 'random'")
        assert len(random) == done.drawn + done.drawn_before
        assert random["probability"].nunique() == 1

    @rule(share=st.integers(1, 3), value=st.booleans())
    def votes(self, share: int, value: bool) -> None:
        if not self.project.path("suspects").exists():
            return
        pairs = self.project.read("suspects")[PAIR].drop_duplicates().iloc[::share]
        self.files += 1
        file = self.folder / f"votes-{self.files}.csv"
        pairs.assign(expert_id="ann", value=int(value)).to_csv(file, index=False)
        before = self._acts() if self.project.path("labels").exists() else set()
        done = self.project.labels.import_votes(file, f"c{self.files}", new_experts=True)
        assert done.suspects == done.pairs == len(pairs)
        self.acts |= self._acts() - before

    @precondition(lambda self: self._every_pair())
    @rule(judged=st.integers(0, 4))
    def campaign(self, judged: int) -> None:
        numbers = self._numbers()
        self.files += 1
        name, expert = f"asked-{self.files}", f"expert-{self.files}"
        self.project.experts.add(expert)
        plan = self.project.campaigns.price(name, [expert])
        self.project.campaigns.create(name, [expert])
        tasks = self.project.labels.next_tasks(name, expert, 10_000)
        assert plan.judgements == len(tasks)
        answers = [Judgement(f"{name}-{task.assignment}", task.assignment, 0) for task in tasks[:judged]]
        if answers:
            self.project.labels.submit(expert, answers)
        self.given += len(answers)
        assert self._numbers() == numbers  # nothing is decided yet

    @rule()
    def compare_a_model(self) -> None:
        """A model that is only compared changes neither the pool nor a number, coming or going."""
        numbers, asked = self._numbers(), self._every_pair()
        name = "compared"
        if name in self.project.models("embeddings"):
            self.project.remove_model(name)
        else:
            self._import(name, role="evaluated")
            self.project.mine([name], k=8)
        assert self._numbers() == numbers
        assert self._every_pair() == asked

    @rule(data=st.data())
    def images(self, data: Any) -> None:
        """A picture leaves the catalogue, or all are back: no label is lost, and the status says what is kept."""
        there, labelled = self.project.read("images"), len(self._truth())
        whole = len(there) == len(SHOP.images)
        gone = data.draw(st.sampled_from(sorted(there.loc[there["role"] == "candidate", "image_id"]))) if whole else ""
        self.project.write(SHOP.images.query("image_id != @gone"), "images", Provenance("images.import"))
        assert len(self._truth()) == labelled
        named = [pair for pair in self._every_pair() if gone in pair]
        changes = self.project.status().pictures
        assert bool(named) == bool(changes and changes.unasked)
        if named:
            assert changes
            assert "are not asked" in changes.text
        for name in self.project.models("embeddings"):
            self._import(name, replace=True)
        self.project.mine(k=8)

    @precondition(lambda self: self.acts)
    @rule(data=st.data())
    def void(self, data: Any) -> None:
        listed = self.project.labels.imports()
        row = data.draw(st.sampled_from(listed.to_dict("records")))
        before = self._acts()
        done = self.project.labels.void_import(int(row["number"]), void=not row["void"])
        assert done.changed
        assert abs(len(before) - len(self._acts())) == row["votes"]

    @rule(data=st.data())
    def undo(self, data: Any) -> None:
        entries = [entry.name for entry in self.project.journal().entries if not entry.undone]
        if not entries:
            return
        name = data.draw(st.sampled_from(entries))
        before, truth = len(self._every_pair()), self._truth()
        try:
            plan = self.project.undo(name, dry_run=True)
            assert len(self._every_pair()) == before
            done = self.project.undo(name)
        except InputError:  # a later pool stands on it
            return
        assert (plan.taken_back, plan.judged, plan.note) == (done.taken_back, done.judged, done.note)
        if not name.startswith(("votes", "campaign")):
            assert before - len(self._every_pair()) <= done.taken_back + done.judged
        assert self._truth().equals(truth)
        assert next(entry for entry in self.project.journal().entries if entry.name == name).undone

    @rule()
    def decide(self) -> None:
        if not self.project.path("labels").exists() or not (self._acts() or len(self._truth())):
            return
        try:
            self.project.decide()
        except EdsError:  # labels would change: it says how many, and nothing is written
            assert len(self.project.decide(replace=True).table) == len(self._truth())

    @rule()
    def export_and_import(self) -> None:
        if not self.project.path("truth").exists() or not self.project.path("suspects").exists():
            return
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        self.project.export("hf", out, pictures=False, replace=True)
        copy = Project.create(self.folder / f"copy-{self.files}-{len(list(self.folder.iterdir()))}")
        copy.import_benchmark("hf", out)
        order = [*PAIR, "origin"]
        mine, theirs = (one.read("suspects").sort_values(order, ignore_index=True) for one in (self.project, copy))
        assert mine[order].equals(theirs[order])

    @invariant()
    def no_judgement_is_lost(self) -> None:
        if not hasattr(self, "project") or not self.project.path("labels").exists():
            return
        with_void = self.project.labels.imports()
        assert with_void["votes"].sum() == len(self.acts)
        counted = int(with_void.loc[~with_void["void"], "votes"].sum()) + self.given
        assert len(self._acts()) == counted

    @invariant()
    def status_and_analysis_agree(self) -> None:
        if not hasattr(self, "project") or not self.project.path("truth").exists():
            return
        shares = self.project.status().shares
        if shares is None:
            return
        document = self.project.analyse("prevalence").result.to_dict()
        assert document["pool"]["labelled"] == shares.p_k.labelled
        assert document["pool"]["image_pairs"] == len(self._pairs("pool"))
        drawn = self._pairs("random")
        assert (document["random"]["drawn"] if document["random"] else 0) <= len(drawn)

    def _pairs(self, origin: str) -> set[tuple[str, str]]:
        if not self.project.path("suspects").exists():
            return set()
        table = self.project.read("suspects")
        return set(table.loc[table["origin"] == origin, PAIR].itertuples(index=False, name=None))

    def _every_pair(self) -> set[tuple[str, str]]:
        return self._pairs("pool") | self._pairs("random")

    def _import(self, name: str, **options: Any) -> None:
        """Vectors of the images that the catalogue has now."""
        there = SHOP.images["image_id"].isin(self.project.read("images")["image_id"]).to_numpy()
        ids, file = self.folder / "now.txt", self.folder / "now.npy"
        ids.write_text("\n".join(SHOP.images.loc[there, "image_id"]) + "\n")
        np.save(file, SHOP.vectors[name if name in SHOP.vectors else "m0"][there])
        self.project.import_vectors(name, file, ids, **options)

    def _known(self) -> set[tuple[str, str]]:
        """The pairs with a label or a vote."""
        parts = [self._truth(), *([self.project.read("labels")] if self.project.path("labels").exists() else [])]
        return {pair for part in parts if len(part) for pair in part[PAIR].itertuples(index=False, name=None)}

    def _numbers(self) -> str:
        """The shares that the status shows."""
        return repr(self.project.status().shares)

    def _acts(self) -> set[str]:
        return set(self.project.read("labels")["label_id"])

    def _truth(self) -> pd.DataFrame:
        return self.project.read("truth") if self.project.path("truth").exists() else pd.DataFrame()


Curator.TestCase.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=12 if EXAMPLES < 10 else 25,
    deadline=None,
    derandomize=EXAMPLES < 10,
    phases=(Phase.generate,) if EXAMPLES < 10 else tuple(Phase),
    suppress_health_check=[*HealthCheck],
)
TestCurator = Curator.TestCase
