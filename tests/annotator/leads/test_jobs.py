"""Work that leads start: in a process of its own, one at a time, with its outcome on the page."""

import json
import time
from pathlib import Path

import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from annotator_ui.app_state import Site, Viewer
from annotator_ui.jobs import Job, Jobs
from annotator_ui.lead.conclude import JOB, start
from annotator_ui.screens.catalogue import IMPORT
from annotator_ui.texts_campaign import CONCLUDE
from annotator_ui.texts_leads import CATALOGUE
from eds.errors import InputError, LockedError
from eds.labels.adjudication import adjudicate
from eds.project import Project
from eds.project.job_limits import check_models, check_step
from tests.annotator.judged import RANDOM
from tests.annotator.leads.pages import metrics, page_text, run
from tests.annotator.sites import store_of

LEA = Viewer("lea", "lead", 1)


def button(app: AppTest, label: str) -> Button:
    """The button with this label."""
    [found] = [one for one in app.button if one.label == label]
    return found


def ended(jobs: Jobs, name: str) -> Job:
    """The job once it has ended."""
    deadline = time.monotonic() + 120
    while (job := jobs.latest(name)) is not None and job.state == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert job is not None
    return job


def test_votes_become_labels_and_a_report_and_leads_decisions_count(judged: Site, viewer: dict[str, str]) -> None:
    judged.owner.decide()
    row = judged.owner.read("truth").merge(judged.owner.read("suspects").query("origin == 'random'")).iloc[0]
    pair = (str(row["query_id"]), str(row["candidate_id"]))
    adjudicate(store_of(judged.owner), RANDOM, *pair, 1 - int(row["value"]), by="lea", token="t")
    (judged.owner.root / "report.html").write_text("the earlier one")
    start(LEA, {"campaign": None, "adjudication": True})
    with pytest.raises(LockedError, match="lea has started"):
        start(LEA, {})
    job = ended(judged.jobs, JOB)
    assert (job.state, job.error) == ("done", "")
    decided = judged.owner.read("truth").query("rule == 'adjudication'")
    assert decided[["query_id", "candidate_id", "value"]].to_numpy().tolist() == [[*pair, 1 - int(row["value"])]]
    assert judged.owner.state("truth").condition == "fresh"
    pages = sorted(judged.owner.root.glob("report*.html"))
    assert len(pages) == 2
    assert [page.read_text() == "the earlier one" for page in pages] == [True, False]
    assert (
        "truth"
        in json.loads((judged.owner.root / "report.json").read_text())["made"]["provenance"]["parents"].__str__()
    )
    assert CONCLUDE.done.format(pairs=job.results["decide"]["pairs"]) in page_text(run("campaign", RANDOM))


def test_a_decision_that_loses_labels_asks_first(judged: Site, viewer: dict[str, str]) -> None:
    judged.owner.decide()
    truth = judged.owner.read("truth")
    judged.jobs.start(JOB, "lea", [("decide", {"campaign": RANDOM})])
    job = ended(judged.jobs, JOB)
    assert job.state == "failed"
    assert judged.owner.read("truth").equals(truth)
    alone = len(truth.merge(judged.owner.read("suspects").query("origin == 'random'")[["query_id", "candidate_id"]]))
    assert job.change is not None
    assert job.change["lost"] == len(truth) - alone
    app = run("campaign", RANDOM)
    assert f"of {len(truth):,} labels, {len(truth) - alone:,} would be lost" in app.warning[0].value
    next(one for one in app.button if one.label == CONCLUDE.replace).click().run()
    assert not app.exception
    assert ended(judged.jobs, JOB).state == "done"
    assert len(judged.owner.read("truth")) == alone


def test_a_job_that_is_killed_or_names_no_verb_fails_and_says_so(judged: Site) -> None:
    job = judged.jobs.start("other", "lea", [("undo", {})])
    assert ended(judged.jobs, "other").state == "failed"
    job = judged.jobs.start("other", "lea", [("decide", {})])
    judged.jobs.close()
    assert ended(judged.jobs, "other").state == "failed"
    assert job.error
    judged.jobs.forget("other")
    assert judged.jobs.latest("other") is None


@pytest.mark.parametrize(
    "model",
    [
        "os:system",
        "http://169.254.169.254/latest",
        "https://keys.example/x",
        "http:https://keys.example/x",
        "checkpoint:/etc/passwd",
        "onnx:model.onnx",
        "torchscript:model.pt",
        "timm:local-dir:/srv",
        "timm:resnet50@/srv/weights.pth",
        "open_clip:ViT-B-32@openai=/srv/weights.pt",
        "hash:../../other",
        "timm:resnet50?prefix=/srv",
        "none",
    ],
)
def test_a_lead_lets_the_server_load_no_module_file_or_address(site: Site, model: str) -> None:
    with pytest.raises(InputError, match="by name"):
        site.jobs.start("other", "lea", [("embed", {"models": ["descriptor:hsv", model]})])
    assert site.jobs.latest("other") is None


def test_a_lead_may_name_models_of_libraries_and_of_the_project(site: Site) -> None:
    names = ["descriptor:hog", "timm:resnet50", "open_clip:ViT-B-32@openai", "transformers:org/name", "hash:run-1"]
    check_models(site.owner, names)
    with (site.owner.root / "eds.toml").open("a") as file:
        file.write('\n[[models]]\nname = "ours"\nspec = "checkpoint:/srv/ours.pt"\n')
    check_models(Project.open(site.owner.root), ["ours", "checkpoint:/srv/ours.pt"])


@pytest.mark.parametrize("verb", ["scan", "import_images"])
def test_a_lead_reads_no_folder_of_the_server_that_is_not_named(site: Site, tmp_path: Path, verb: str) -> None:
    def options(place: Path) -> dict[str, object]:
        return {"folder": str(place)} if verb == "scan" else {"files": [str(place)]}

    link = site.owner.root / "link"
    link.symlink_to(tmp_path)
    for place in (Path("/etc"), tmp_path, site.owner.root / ".." / "other", link):
        with pytest.raises(InputError, match="pages may import"):
            check_step(site.owner, verb, options(place))
    for place in (site.received.folder, Path(str(site.owner.pictures))):
        check_step(site.owner, verb, options(place))
    allow(site, tmp_path / "photos")
    allowed = Project.open(site.owner.root)
    check_step(allowed, verb, options(tmp_path / "photos" / "bags"))
    with pytest.raises(InputError, match="pages may import"):
        check_step(allowed, verb, options(tmp_path / "photos-of-others"))


def allow(site: Site, folder: Path) -> None:
    """Let pages import from a folder, as the owner of the project does."""
    file = site.owner.root / "eds.toml"
    text = file.read_text()
    assert "# image_folders = []" in text
    file.write_text(text.replace("# image_folders = []", f'image_folders = ["{folder}"]'))


def test_pictures_are_imported_from_a_folder_on_the_server(tmp_path: Path, site: Site, viewer: dict[str, str]) -> None:
    photos = tmp_path / "photos"
    for category in ("bags", "coats"):
        (photos / category).mkdir(parents=True)
        for number in range(4):
            colour = (60 * number, 90 if category == "bags" else 200, 40)
            Image.new("RGB", (32, 32), colour).save(photos / category / f"{number}.png")
    site.owner.path("images").unlink()  # the image root can be chosen as long as there are no pictures
    app = run("catalogue")
    app.segmented_control[0].set_value("server").run()
    app.text_input[0].set_value("/no/such/folder").run()
    button(app, CATALOGUE.start_import).click().run()
    assert "There is no /no/such/folder" in app.error[0].value.replace("\\", "")
    app.text_input[0].set_value(str(photos)).run()
    button(app, CATALOGUE.start_import).click().run()
    assert "not a folder that pages may import from" in app.error[0].value
    allow(site, tmp_path)
    app.selectbox[0].set_value("category").run()
    button(app, CATALOGUE.start_import).click().run()
    job = ended(site.jobs, IMPORT)
    assert (job.state, job.error) == ("done", "")
    images = site.project.read("images")
    assert images["category"].value_counts().to_dict() == {"bags": 4, "coats": 4}
    assert site.project.pictures == photos  # the server knows the new image root
    site.pictures.refresh()
    assert site.pictures.source(str(images["image_id"].iloc[0])) is not None
    app.run()
    assert metrics(app)[CATALOGUE.images][0] == "8"
    assert CATALOGUE.done[IMPORT] in page_text(app)
