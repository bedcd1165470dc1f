"""The demo on a real catalogue that lies on this machine: to the pool and a contact sheet, for experts to judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eds.choices import DemoCatalogue
from eds.errors import InputError
from eds.project.demo import SHEET, demo_models
from eds.project.project import Project
from eds.project.reporter import SILENT, Reporter
from eds.project.results import Result

if TYPE_CHECKING:
    import pandas as pd

ATTRIBUTION = "ATTRIBUTION.md"
SHOWN = ("title", "brand", "category", "licence")  # what experts read below a picture


@dataclass(frozen=True)
class RealCatalogue:
    """A catalogue: its title, the reader, where its package puts it, and how it is installed."""

    title: str
    reader: str
    folder: Path
    install: str


CATALOGUES: dict[DemoCatalogue, RealCatalogue] = {
    "furniture": RealCatalogue(
        "Furniture",
        "furniture",
        Path("/usr/share/sweethome3d/furniture"),
        "On Debian and Ubuntu run: apt-get install --no-install-recommends sweethome3d-furniture",
    ),
    "emoji": RealCatalogue(
        "Emoji", "emoji", Path("node_modules"), "Run here: npm install emoji-datasource-google emoji-datasource-twitter"
    ),
}


@dataclass(frozen=True)
class CatalogueDemoResult(Result):
    """What the demo made of a real catalogue, and whom its pictures come from."""

    project: str
    images: int
    products: int
    k: int
    pairs: int  # of the pool
    overlap: dict[str, Any]
    attribution: tuple[str, ...]  # a line for each licence
    attribution_file: str
    sheet: str


def make_catalogue_demo(
    folder: str | Path,
    catalogue: DemoCatalogue,
    *,
    source: str | Path | None = None,
    models: Sequence[str] | None = None,
    reporter: Reporter = SILENT,
) -> CatalogueDemoResult:
    """Import a real catalogue into a project, embed it, mine lists and unite them; resumes.

    `source` is where the catalogue lies, by default where its package puts it. Its truth is not known: experts judge.
    """
    from eds import config
    from eds.images.sheet import contact_sheet
    from eds.io.files import replacing, write_text

    chosen = CATALOGUES[catalogue]
    place = Path(source) if source else chosen.folder
    if not place.exists():
        raise InputError(f"the catalogue {catalogue} is not installed", where=str(place), hint=f"{chosen.install}.")
    if not (Path(folder) / config.FILE).exists():
        values = {
            "project.name": chosen.title,
            "embeddings.models": list(demo_models(models, reporter)),
            "annotator.columns": list(SHOWN),
        }
        Project.create(folder, values)
    project = Project.open(folder, reporter=reporter)
    if not project.path("images").exists():
        project.import_images(place, format_name=chosen.reader)
    images = project.read("images")
    if "licence" not in images:
        raise InputError("the project holds another catalogue", where=str(folder), hint="Name another folder.")
    lines = attribution(images)
    write_text(project.root / ATTRIBUTION, credits_page(chosen.title, images, lines))
    sheet = contact_sheet(images, project.image_root, count=84, columns=12, title=chosen.title, caption="title")
    with replacing(project.root / SHEET) as temporary:
        sheet.save(temporary, format="PNG")
    project.run(until="suspects")
    pool = project.pool()
    return CatalogueDemoResult(
        str(folder),
        len(images),
        images["product_id"].nunique(),
        pool.k,
        pool.size,
        dict(pool.overlap),
        lines,
        str(project.root / ATTRIBUTION),
        str(project.root / SHEET),
    )


def attribution(images: "pd.DataFrame") -> tuple[str, ...]:
    """One line for each licence, the most frequent first: how many images have it, and who made most of them."""
    lines = []
    for licence in images["licence"].value_counts().index:
        some = images[images["licence"] == licence]
        makers = some["brand"].dropna().value_counts().index.tolist()
        more = f" and {len(makers) - 3} more" if len(makers) > 3 else ""
        by = f" by {', '.join(makers[:3])}{more}" if makers else ""
        lines.append(f"{len(some):,} image{'s' * (len(some) > 1)}{by}: {licence}")
    return tuple(lines)


def credits_page(title: str, images: "pd.DataFrame", lines: Sequence[str]) -> str:
    """Every maker with what is theirs, as licences that ask for attribution want it."""
    parts = [f"# Pictures of {title.lower()}", "", *(f"- {line}" for line in lines), ""]
    parts += ["| maker | licence | pictures |", "|---|---|---|"]
    known = images.assign(brand=images["brand"].fillna("not stated"))
    for (maker, licence), some in known.groupby(["brand", "licence"], sort=True):
        titles = ", ".join(str(title).replace("|", "/") for title in some["title"])
        parts.append(f"| {str(maker).replace('|', '/')} | {licence} | {titles} |")
    return "\n".join([*parts, ""])
