"""`eds truth` on a project whose label store holds a small campaign."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from eds import tables
from eds.cli.truth import render_decision
from eds.cli.truth import truth as group
from eds.errors import InputError, ProjectError, TruthChangeError, UnknownNameError
from eds.labels.adjudication import adjudicate
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.experts import add_expert
from eds.labels.frames import control_pairs
from eds.labels.gold import add_gold
from eds.labels.judgements import Judgement, submit
from eds.labels.queue import last_answers, next_batch
from eds.labels.store import open_store
from eds.project import Project
from eds.project.decide import refresh
from tests.labels.stores import BACKENDS, begin, fresh_url, judge_all

VOTES: dict[str, list[int | None]] = {
    "c0": [1, 1, 1],
    "c1": [1, 1, 0],
    "c2": [1, 0, 0],
    "c3": [1, 0, None],
    "c4": [None, None, None],
    "c5": [0, 0, 0],
}
EXPERTS = ("ann", "bob", "cid")
Call = Callable[..., Any]


def judged(folder: Path, *, early_stop: bool = False) -> Project:
    """A project whose three experts judged six pairs, in the order of VOTES."""
    project = Project.create(folder)
    with closing(open_store(project.path("labels"))) as store:
        for name in EXPERTS:
            add_expert(store, name)
        pairs = pd.DataFrame({"query_id": "q", "candidate_id": list(VOTES)})
        create_campaign(store, Plan("first", early_stop=early_stop, control_share=0.5), pairs, EXPERTS)
        for place, name in enumerate(EXPERTS):
            for task in next_batch(store, "first", name, 10):
                token = f"{name}-{task.candidate_id}"
                submit(store, name, [Judgement(token, task.assignment, VOTES[task.candidate_id][place], 2.0)])
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return judged(tmp_path / "p")


@pytest.fixture
def call(project: Project) -> Call:
    def told(*words: str) -> Any:
        options = ["--json", "-q", "-p", str(project.root)]
        return json.loads(CliRunner().invoke(group, [*words, *options], catch_exceptions=False).stdout)

    return told


def test_decide_stores_the_truth_with_what_made_it(project: Project, call: Call) -> None:
    told = call("decide")
    stored = project.read("truth")
    assert dict(zip(stored["candidate_id"], stored["value"], strict=True)) == {
        "c0": 1,
        "c1": 1,
        "c2": 0,
        "c3": 0,
        "c5": 0,
    }
    assert stored["tie"].tolist() == [False, False, False, True, False]
    assert {name: told[name] for name in ("pairs", "complete", "decided", "open", "undefined", "ties", "positive")} == {
        "pairs": 5,
        "complete": 5,
        "decided": 0,
        "open": 0,
        "undefined": 1,
        "ties": 1,
        "positive": 2,
    }
    made_by, _ = tables.read_provenance(project.path("truth"), tables.TRUTH)
    assert made_by.settings == {"truth.rule": "majority"}
    assert list(made_by.parents) == ["labels"]
    assert told["panel"] == {"smallest": 3, "largest": 3}
    assert project.state("truth").condition == "fresh"


def test_another_rule_is_a_second_opinion_until_replaced(project: Project, call: Call) -> None:
    call("decide")
    told = call("decide", "--rule", "unanimity")
    assert not told["stored"]
    assert told["stored_rule"] == "majority"
    assert [(one["candidate_id"], one["value"], one["value_second"]) for one in told["differing_pairs"]] == [
        ("c1", 1, 0)
    ]
    assert set(project.read("truth")["rule"]) == {"majority"}
    assert call("decide", "--rule", "unanimity", "--replace")["stored"]
    assert set(project.read("truth")["rule"]) == {"unanimity"}
    assert project.state("truth").condition == "stale"


def test_the_first_truth_may_be_made_by_any_rule(project: Project, call: Call) -> None:
    assert call("decide", "--rule", "dawid-skene")["stored"]
    assert set(project.read("truth")["rule"]) == {"dawid-skene"}


def test_a_larger_panel_leaves_pairs_open_and_a_smaller_one_is_refused(project: Project, call: Call) -> None:
    told = call("decide", "--panel", "5")
    assert (told["pairs"], told["open"]) == (2, 4)
    with pytest.raises(InputError, match="more answers than their panel"):
        call("decide", "--panel", "2")
    assert len(project.read("truth")) == 2


def test_as_of_a_time_before_everything_there_is_no_truth(project: Project, call: Call) -> None:
    assert call("decide", "--as-of", "2020-01-01")["pairs"] == 0
    with pytest.raises(InputError, match="invalid time 'yesterday'"):
        call("decide", "--as-of", "yesterday")


def test_agreement_tells_coefficients_experts_and_disputes(call: Call, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("query_id,candidate_id,value\nq,c0,1\n", encoding="utf-8")
    told = call("agreement", "--resamples", "50", "--gold", str(gold))
    assert (told["items"], told["complete"], told["unsure"], told["disputed"]) == (5, 4, 4, 3)
    by_name = {one["coefficient"]: one for one in told["coefficients"]}
    # Pairs agree wholly twice, in 1 of 3 comparisons twice, and not at all once.
    assert by_name["percent_agreement"]["value"] == pytest.approx((1 + 1 + 1 / 3 + 1 / 3 + 0) / 5)
    assert by_name["fleiss_kappa"]["value"] is None
    assert [one["expert_id"] for one in told["experts"]] == list(EXPERTS)
    assert [one["median_seconds"] for one in told["experts"]] == [2.0] * 3
    assert [one["candidate_id"] for one in told["disputed_pairs"]] == ["c3", "c1", "c2"]


def test_agreement_of_early_stopped_campaigns_counts_on_their_control_pairs(tmp_path: Path) -> None:
    project = judged(tmp_path / "early", early_stop=True)
    words = ["agreement", "--resamples", "10", "--json", "-q", "-p", str(project.root)]
    told = json.loads(CliRunner().invoke(group, words, catch_exceptions=False).stdout)
    with closing(open_store(project.path("labels"))) as store:
        control = control_pairs(store, "first")["candidate_id"].tolist()
    judged_by_any = [name for name in control if any(vote is not None for vote in VOTES[name])]
    assert (told["items"], told["control"]) == (len(judged_by_any), True)
    other = tmp_path / "control.csv"
    other.write_text("query_id,candidate_id\nq,c0\nq,c1\n", encoding="utf-8")
    done = CliRunner().invoke(group, [*words, "--control", str(other)], catch_exceptions=False)
    assert json.loads(done.stdout)["items"] == 2


def test_gold_and_panels_come_from_the_store(project: Project, call: Call) -> None:
    with closing(open_store(project.path("labels"))) as store:
        gold = pd.DataFrame({"query_id": "q", "candidate_id": ["g"], "value": [1]})
        add_gold(store, gold)
        create_campaign(
            store, Plan("second", gold_share=1.0), pd.DataFrame({"query_id": ["q"], "candidate_id": ["d"]}), EXPERTS[:2]
        )
        for name, value in zip(EXPERTS, (1, 0), strict=False):
            for task in next_batch(store, "second", name, 9):
                submit(store, name, [Judgement(f"{name}-{task.candidate_id}", task.assignment, value)])
    told = call("agreement", "--resamples", "10")
    assert [one["gold_score"] for one in told["experts"]] == [1.0, 0.0, None]
    decided = call("decide")
    assert decided["panel"] == {"smallest": 2, "largest": 3}
    assert (decided["pairs"], decided["open"]) == (6, 0)


def test_campaigns_in_which_nobody_has_judged_take_no_label_away(project: Project, call: Call) -> None:
    """Measured before: two further campaigns took the truth of a judged pool from 827 to 563 to 15 similar pairs."""
    call("decide")
    before = project.read("truth")
    pairs = pd.DataFrame({"query_id": "q", "candidate_id": list(VOTES)})
    with closing(open_store(project.path("labels"))) as store:
        for name in ("dan", "eve"):
            add_expert(store, name)
        for number, experts in enumerate((EXPERTS, ("dan", "eve"))):
            create_campaign(store, Plan(f"further {number}"), pairs, experts)
            told = call("decide")
            assert (told["pairs"], told["positive"], told["open"]) == (5, 2, 0)
            assert project.read("truth").equals(before)
        for name in ("dan", "eve"):
            (task,) = (one for one in next_batch(store, "further 1", name, 9) if one.candidate_id == "c1")
            submit(store, name, [Judgement(name, task.assignment, 0)])
            if name == "dan":
                call("decide")
                assert project.read("truth").equals(before)  # one of two has answered
    with pytest.raises(TruthChangeError) as caught:
        call("decide")
    assert caught.value.reasons == {"further or revised votes": 1}
    assert call("decide", "--campaign", "first")["positive"] == 2  # the truth of that campaign, as before
    with pytest.raises(TruthChangeError) as caught:
        call("decide", "--campaign", "further 1")
    assert (caught.value.lost, caught.value.turned) == (4, 1)
    assert set(caught.value.reasons) == {"restricted to campaign further 1 alone"}
    assert call("decide", "--replace")["positive"] == 1
    (row,) = project.read("truth").query("candidate_id == 'c1'").to_dict("records")
    assert (row["value"], row["votes_for"], row["votes_against"]) == (0, 2, 3)


def test_imported_votes_join_as_a_panel_of_their_own(project: Project, call: Call, tmp_path: Path) -> None:
    """Votes of one expert in several campaigns are one vote; who was never on a panel comes after it."""
    call("decide")

    def bring(campaign: str, *votes: tuple[str, str, int]) -> None:
        file = tmp_path / "votes.csv"
        rows = "".join(f"q,{candidate},{expert},{value}\n" for candidate, expert, value in votes)
        file.write_text(f"query_id,candidate_id,expert_id,value\n{rows}", encoding="utf-8")
        project.labels.import_votes(file, campaign, new_experts=True, new_pairs=True)

    bring("crowd", ("c0", "ann", 0), ("c0", "zoe", 0), ("n0", "zoe", 1))  # ann said that c0 is similar before
    told = project.decide(replace=True)
    rows = project.read("truth").set_index("candidate_id")
    assert list(rows.loc["c0", ["value", "votes_for", "votes_against"]]) == [0, 2, 2]
    assert list(rows.loc["n0", ["value", "votes_for"]]) == [1, 1]
    assert told.panel == {"smallest": 1, "largest": 4}
    pairs = pd.DataFrame({"query_id": "q", "candidate_id": ["m0", "m1"]})
    with closing(open_store(project.path("labels"))) as store:
        create_campaign(store, Plan("second"), pairs, EXPERTS)
    bring("second", ("m0", "zoe", 1))  # her vote alone decides nothing while the panel is waited for
    assert "m0" not in set(project.decide().table["candidate_id"])
    with closing(open_store(project.path("labels"))) as store:
        for name in EXPERTS:
            for task in next_batch(store, "second", name, 9):
                submit(store, name, [Judgement(f"{name} {task.candidate_id}", task.assignment, 0)])
    rows = project.decide().table.set_index("candidate_id")
    assert list(rows.loc["m0", ["value", "votes_for", "votes_against"]]) == [0, 1, 3]


def test_an_expert_who_leaves_makes_truth_stale(project: Project, call: Call) -> None:
    with closing(open_store(project.path("labels"))) as store:
        create_campaign(store, Plan("more"), pd.DataFrame({"query_id": ["q"], "candidate_id": ["m"]}), EXPERTS)
        (task,) = next_batch(store, "more", "ann", 9)
        submit(store, "ann", [Judgement("m", task.assignment, 1)])
    assert call("decide")["open"] == 1
    for name in ("bob", "cid"):
        project.campaigns.remove_expert("more", name)
    assert project.state("truth").reasons == ("labels have changed since",)
    assert "6 pairs have a label" in rerun(project)


def test_run_stops_before_labels_are_lost(project: Project, call: Call) -> None:
    call("decide")
    before = project.path("truth").read_bytes()
    with closing(open_store(project.path("labels"))) as store:
        for name in EXPERTS:
            for answer in last_answers(store, "first", name):
                if answer.task.candidate_id == "c0":
                    submit(store, name, [Judgement(f"{name} unsure", answer.task.assignment, None)])
    with pytest.raises(TruthChangeError) as caught:
        rerun(project)
    assert caught.value.directions == {"similar -> no label": 1}
    assert "eds truth decide --replace" in str(caught.value)
    assert project.path("truth").read_bytes() == before


def rerun(project: Project) -> str:
    done = refresh(Project.open(project.root))
    return render_decision(done) if done else ""


@pytest.mark.parametrize("kind", BACKENDS)
def test_new_acts_make_truth_stale_and_run_makes_it_anew(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fresh_url(kind, tmp_path) as url:
        monkeypatch.setenv("EDS_LABELS_URL", url)
        project = Project.create(tmp_path / "p")
        assert rerun(project) == ""  # there is no store yet, and none is made
        assert project.state("truth").condition == "absent"
        with closing(open_store(url)) as store:
            begin(store)
            assert rerun(project) == ""  # nobody has judged yet
            judge_all(store, "first", "ann", 1)
            judge_all(store, "first", "bob", 1)
            assert "12 pairs have a label, 12 of them similar" in rerun(project)
            assert project.state("truth").condition == "fresh"
            assert rerun(project) == ""
            add_expert(store, "dot")  # nothing of that is an act
            assert project.state("truth").condition == "fresh"
            answers = last_answers(store, "first", "bob")
            submit(store, "bob", [Judgement(f"again {n}", a.task.assignment, 0) for n, a in enumerate(answers)])
            judge_all(store, "first", "cid", 0)
            assert project.state("truth").reasons == ("labels have changed since",)
            with pytest.raises(TruthChangeError, match="of 12 labels 12 would get the other one"):
                rerun(project)  # nothing is overwritten
            assert project.read("truth")["value"].tolist() == [1] * 12
            assert "12 similar -> not similar" in render_decision(project.decide(replace=True))
            assert project.state("truth").condition == "fresh"
        assert "postgresql:" not in project.path("truth").read_bytes().decode("latin-1")
        monkeypatch.setenv("EDS_LABELS_URL", "postgresql://nobody:secret@127.0.0.1:9/none")
        (reason,) = Project.open(project.root).state("truth").reasons
        assert "labels cannot be compared" in reason
        assert "secret" not in reason


def test_run_never_replaces_the_rule_of_a_stored_truth(project: Project, call: Call) -> None:
    call("decide", "--rule", "unanimity", "--campaign", "first")
    with closing(open_store(project.path("labels"))) as store:
        (one, *_) = last_answers(store, "first", "ann")
        submit(store, "ann", [Judgement("later", one.task.assignment, 0)])
    assert "rule unanimity" in rerun(project)
    state = project.state("truth")
    assert state.params == {"rule": "unanimity", "campaign": "first"}
    assert state.reasons == ("truth.rule was unanimity, eds.toml says majority",)


def test_leads_decisions_count_unless_they_are_left_out(project: Project, call: Call) -> None:
    assert call("decide")["pairs"] == 5
    with closing(open_store(project.path("labels"))) as store:
        add_expert(store, "lea", "lead")
        for candidate, value in (("c3", 1), ("c4", 0)):
            adjudicate(store, "first", "q", candidate, value, by="lea", token=candidate)
    with pytest.raises(TruthChangeError) as caught:
        call("decide")  # one of five labels would change
    assert (caught.value.lost, caught.value.turned) == (0, 1)
    assert caught.value.directions == {"not similar -> similar": 1}
    assert caught.value.reasons == {"decided by a lead": 1}
    told = call("decide", "--replace")
    assert (told["pairs"], told["adjudicated"], told["undefined"]) == (6, 2, 0)
    stored = project.read("truth").set_index("candidate_id")
    assert list(stored.loc["c3", ["value", "votes_for", "votes_against", "tie", "rule"]]) == [
        1,
        1,
        1,
        True,
        "adjudication",
    ]
    assert list(stored.loc["c4", ["value", "unsure", "rule"]]) == [0, 3, "adjudication"]
    assert set(stored["rule"]) == {"majority", "adjudication"}
    assert call("decide")["adjudicated"] == 2  # and again without --replace, since nothing changes
    with pytest.raises(TruthChangeError) as caught:
        call("decide", "--no-adjudication")
    assert caught.value.directions == {"not similar -> no label": 1, "similar -> not similar": 1}
    assert caught.value.reasons == {"decided by a lead before, which does not count now": 2}
    assert call("decide", "--no-adjudication", "--replace")["stored"]
    assert set(project.read("truth")["rule"]) == {"majority"}
    assert project.state("truth").params == {"adjudication": False}
    assert rerun(project) == ""


def test_answers_can_be_read_too(project: Project) -> None:
    plain = ["-p", str(project.root)]
    shown = CliRunner().invoke(group, ["decide", *plain], catch_exceptions=False).stdout
    assert "5 pairs have a label, 2 of them similar (rule majority, panel of 3; 1 tie counted" in shown
    shown = CliRunner().invoke(group, ["decide", "--rule", "unanimity", *plain], catch_exceptions=False).stdout
    assert "truth.parquet keeps rule majority, and 1 pairs differ" in shown
    shown = CliRunner().invoke(group, ["agreement", "--resamples", "20", *plain], catch_exceptions=False).stdout
    assert "Krippendorff's alpha" in shown
    assert not {"krippendorff_alpha", "expert_id", "skip_rate", "no_interval", "NaN", "nan"} & set(shown.split())
    assert "5 pairs judged" in shown


def test_mistakes_are_told(project: Project, call: Call, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown voting rule 'majorty'"):
        project.decide(rule="majorty")
    with pytest.raises(InputError, match="unknown campaign"):
        call("decide", "--campaign", "second")
    assert call("decide", "--campaign", "first")["pairs"] == 5
    empty = Project.create(tmp_path / "empty")
    with pytest.raises(ProjectError, match="there are no labels yet"):
        CliRunner().invoke(group, ["decide", "-p", str(empty.root)], catch_exceptions=False)
