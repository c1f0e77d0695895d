"""Commands for runs that travel: `export` and `import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from orchestrator import console, options

if TYPE_CHECKING:
    from orchestrator.bundle.importing import Imported

IMPORTS = Path("imports")
"""Folder that imports go to, relative to the working directory."""


def export(
    run: options.Run,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A .tar.gz or .zip file.", show_default="RUN.tar.gz here"),
    ] = None,
    no_films: Annotated[bool, options.switch("--no-films", "Leave films out.")] = False,
) -> None:
    """Pack a run into one file: programs, prompts, seeds, figures, episodes, films, versions, and hashes of all."""
    from orchestrator.bundle.packing import pack
    from orchestrator.runs import find_run

    found = find_run(run)
    packed = pack(found.storage, out or Path(f"{found.name}.tar.gz"), films=not no_films)
    say = console.messages().print
    films = sum(name.endswith(".mp4") for name in packed.left_out) if no_films else 0
    for name, reason in packed.left_out.items():
        if not (no_films and name.endswith(".mp4")):
            say(console.shown(f"left out {name}: {reason}"))
    left = f", without {films} films" if films else ""
    size = f"{packed.size / 2**20:.1f} MiB"
    console.results().print(console.shown(f"{packed.members} files{left} in {packed.path} ({size})"))


def import_(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A file that `export` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="The folder that it goes to.", show_default="imports/SEARCH"),
    ] = None,
) -> None:
    """Check a bundle and judge its programs anew, so that another search can start from them."""
    from orchestrator.bundle.importing import import_bundle

    place = out or IMPORTS / _stem(bundle)
    found = import_bundle(bundle, place)
    results = console.results()
    results.print(console.shown(f"{found.search_id}, bundle {found.sha256[:12]}, in {place}"))
    results.print(_table(found))
    if not found.same_episodes:
        results.print("measured on other episodes than this release measures on: the order is a hint, no comparison")
    if found.programs:
        results.print(console.shown(f"start from them with: orchestrate --archive {place}"))
    else:
        console.messages().print("no program in it can be used")


def _stem(bundle: Path) -> str:
    for suffix in (".tar.gz", ".tgz", ".zip"):
        if bundle.name.endswith(suffix):
            return bundle.name.removesuffix(suffix)
    return bundle.stem


def _table(found: "Imported") -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("candidate", "fitness", "from", "in the bundle", ""):
        table.add_column(title, justify="right" if title in ("fitness", "in the bundle") else "left")
    for each in found.candidates:
        table.add_row(
            console.shown(each.name),
            "" if each.fitness is None else f"{each.fitness:.3f}",
            each.basis or "",
            "" if each.told is None else f"{each.told:.3f}",
            console.shown(each.refused, style="red"),
        )
    return table
