"""Backups: consistent under load, verified, and the way from one database to the other and back without loss."""

import shutil
import threading
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

from eds.errors import InputError, ProjectError
from eds.labels import backup, experts, migrate, schema
from eds.labels.audit import read_audit
from eds.labels.backup import back_up, check_backup, restore
from eds.labels.calibration import answer, begin_round, next_task, plan_calibration
from eds.labels.campaigns import Plan, create_campaign
from eds.labels.frames import acts_frame, labels_frame
from eds.labels.gold import add_gold
from eds.labels.guidelines import Example, put_in_force, save_guideline
from eds.labels.judgements import Judgement, flag_task, submit
from eds.labels.passkeys import NewPasskey, add_passkey
from eds.labels.queue import next_batch
from eds.labels.store import Store, open_store
from eds.labels.transfer import import_votes
from eds.labels.vote_imports import list_imports, void_import
from tests.labels.stores import BACKENDS, begin, cheap, fresh_store, fresh_url, judge_all, pairs


def everything(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table that a backup keeps."""
    kept = [table for table in schema.metadata.sorted_tables if table.name not in backup.LEFT_OUT]
    return {
        table.name: sorted(tuple(row) for row in store.read(lambda c, t=table: c.execute(sa.select(t)).all()))  # type: ignore[misc]
        for table in kept
    }


def furnish(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something in every table."""
    monkeypatch.setattr(experts, "hasher", cheap)
    name = begin(store, Plan("ünï👗", early_stop=True, guideline="v1\nv2"))
    add_gold(store, pd.DataFrame({"query_id": ["q0"], "candidate_id": ["gold"], "value": [1]}))
    create_campaign(store, Plan("g", gold_share=0.1, repeat_share=0.3), pairs(), ["ann"])
    judge_all(store, name, "ann")
    judge_all(store, name, "bob", None)
    brought = pd.DataFrame(
        {"query_id": ["q0", "q1"], "candidate_id": ["c0-0", "c1-0"], "expert_id": "far", "value": [1, 0]}
    ).assign(grade=[3, 0], aspects=["sleeve", "colour,shäpe"], note="why", seconds=2.5)
    for part in (brought[:1], brought[1:]):
        number = import_votes(store, part, "brought", add_missing=True).number
    assert number is not None
    void_import(store, number, note="by mistake")
    flag_task(store, "cid", next_batch(store, name, "cid")[0].assignment, 'why, "so"?', "flag")
    save_guideline(store, "v1ü", "# *What* counts", [Example("q0", "c0-0", "border", "why", 1)])
    put_in_force(store, "g", "v1ü")
    add_passkey(store, "cid", NewPasskey("credential", "public key", 0, "Läptop"))
    plan_calibration(store, "g", 1)
    task = next_task(store, begin_round(store, "g", "ann").round, "ann")
    assert task is not None
    answer(store, "ann", task.task, None, "calibrated", seconds=1.5)
    experts.accept(store, experts.invite(store, "ann"), "correct horse")
    experts.invite(store, "bob")


@pytest.mark.parametrize("first", BACKENDS)
def test_from_one_database_to_the_other_and_back_nothing_is_lost(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = next(kind for kind in BACKENDS if kind != first)
    with (
        fresh_store(first, tmp_path) as store,
        fresh_url(other, tmp_path / "b") as there,
        fresh_url(first, tmp_path / "c") as home,
    ):
        furnish(store, monkeypatch)
        before = everything(store)
        assert all(before.values())
        manifest = back_up(store, tmp_path / "one.zip")
        assert manifest.labels == len(before["label_event"])
        restore(tmp_path / "one.zip", there)
        moved = open_store(there)
        assert everything(moved) == before
        back_up(moved, tmp_path / "two.zip")
        restore(tmp_path / "two.zip", home)
        again = open_store(home)
        assert everything(again) == before
        assert list_imports(again)["void"].tolist() == [False, True]
        acts = acts_frame(again).query("expert_id == 'far'")
        assert acts[["value", "grade", "aspects", "note"]].to_numpy().tolist() == [[1, 3, "sleeve", "why"]]
        assert check_backup(tmp_path / "one.zip").tables == check_backup(tmp_path / "two.zip").tables
        # Life goes on: new rows get new numbers, the triggers stand.
        judge_all(again, "ünï👗", "cid", 0)
        experts.add_expert(again, "new")
        create_campaign(again, Plan("new"), pairs(4), ["new"])
        pd.testing.assert_frame_equal(labels_frame(again).head(len(labels_frame(store))), labels_frame(store))
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            again.write(lambda c: c.exec_driver_sql("DELETE FROM label_event"))
        moved.close()
        again.close()


@pytest.mark.parametrize("kind", BACKENDS)
def test_a_backup_taken_under_load_holds_whole_batches(kind: str, tmp_path: Path) -> None:
    with fresh_store(kind, tmp_path) as store:
        name = begin(store, panel=("ann", "bob"), queries=20, each=10)
        stop, acknowledged = threading.Event(), list[str]()

        def work(expert: str) -> None:
            number = 0
            while not stop.is_set() and (tasks := next_batch(store, name, expert, 5)):
                batch = [Judgement(f"{expert}/{number}/{i}", t.assignment, 1) for i, t in enumerate(tasks)]
                submit(store, expert, batch)
                acknowledged.extend(one.token for one in batch)
                number += 1

        workers = [threading.Thread(target=work, args=(expert,)) for expert in ("ann", "bob")]
        for worker in workers:
            worker.start()
        for turn in range(3):
            known = set(acknowledged)
            back_up(store, tmp_path / f"{turn}.zip")
            url = tmp_path / f"{turn}.db"
            restore(tmp_path / f"{turn}.zip", url)
            restored = open_store(url)
            frame = labels_frame(restored)
            assert known <= set(frame["label_id"])
            sizes = frame["label_id"].str.replace(r"/\d+$", "", regex=True).value_counts()
            assert (sizes == 5).all()
            events = restored.read(lambda c: c.execute(sa.text("SELECT SUM(events) FROM assignment")).scalar())
            assert events == len(frame)
            restored.close()
        stop.set()
        for worker in workers:
            worker.join()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        begin(store)
        back_up(store, tmp_path / "b.zip")
        with pytest.raises(ProjectError, match="there are labels already"):
            restore(tmp_path / "b.zip", store.path)
        with pytest.raises(ProjectError, match="another program has the labels open"):
            restore(tmp_path / "b.zip", store.path, replace=True)
        submit(store, "ann", [Judgement("after", next_batch(store, "first", "ann")[0].assignment, 1)])
        store.close()
        restore(tmp_path / "b.zip", store.path, replace=True)
        again = open_store(store.path)
        assert labels_frame(again).empty
        again.close()
        (aside,) = tmp_path.glob("labels.db.before-*")
        kept = open_store(aside)
        assert labels_frame(kept)["label_id"].tolist() == ["after"]
        kept.close()
    with fresh_store("postgresql", tmp_path) as full, pytest.raises(ProjectError, match="the database is not empty"):
        restore(tmp_path / "b.zip", full.url.render_as_string(hide_password=False))


def test_a_damaged_backup_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        begin(store)
        back_up(store, good := tmp_path / "good.zip")
    assert good.stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(good) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, change in (
        ("expert.parquet", lambda old: old[:-1] + b"x"),
        ("pair.parquet", None),
        ("manifest.json", lambda old: old.replace(b'"rows": 3', b'"rows": 4')),
        ("manifest.json", lambda old: old.replace(b"eds labels backup", b"something else")),
        ("manifest.json", lambda old: old.replace(migrate.newest().encode(), b"9999")),
    ):
        with zipfile.ZipFile(bad := tmp_path / "bad.zip", "w") as archive:
            for part, content in parts.items():
                if part != name:
                    archive.writestr(part, content)
                elif change is not None:
                    archive.writestr(part, change(content))  # type: ignore[no-untyped-call]
        with pytest.raises((InputError, ProjectError)):
            restore(bad, tmp_path / "new.db")
        assert not (tmp_path / "new.db").exists()
    torn = tmp_path / "torn.zip"
    torn.write_bytes(good.read_bytes()[:-100])
    with pytest.raises(InputError, match="cannot be read"):
        check_backup(torn)


def test_no_secret_leaves_by_backup_manifest_audit_or_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fresh_store("sqlite", tmp_path) as store:
        furnish(store, monkeypatch)
        token = experts.invite(store, "cid")
        back_up(store, tmp_path / "b.zip")
        with zipfile.ZipFile(tmp_path / "b.zip") as archive:
            names = archive.namelist()
            content = b"".join(archive.read(name) for name in names)
        assert {"session.parquet", "attempt.parquet"} & set(names) == set()
        shown = content + read_audit(store).to_csv().encode() + labels_frame(store).to_csv().encode()
        for secret in (token, "correct horse"):
            assert secret.encode() not in shown
        shutil.copy(store.path, tmp_path / "raw.db")
        assert token.encode() not in (tmp_path / "raw.db").read_bytes()
