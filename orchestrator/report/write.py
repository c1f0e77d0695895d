"""Makes a report: one HTML file that holds everything, and Markdown with pictures and films beside it."""

from pathlib import Path

from actors.storage import Storage
from orchestrator.report.compose import compose
from orchestrator.report.films import MOST_BYTES, clips, side_by_side
from orchestrator.report.gather import gather
from orchestrator.report.html import to_html
from orchestrator.report.markdown import companions, to_markdown
from orchestrator.runs import Run
from search_spaces.errors import MachineError

FOLDER = "report"
"""Folder of the report in the run's folder."""
HTML_NAME, MARKDOWN_NAME = "report.html", "report.md"


def write_report(run: Run, out: Path | None = None, *, videos: bool = True) -> str:
    """Write the report of a run, also while it is written.

    Args:
        run: The run.
        out: Folder of the report; None: `report/` in the run's folder.
        videos: Whether films are made, which takes some seconds each.

    Returns:
        Where the HTML file is.

    Raises:
        RunError: The search has not started yet, or a file of the run is damaged.
        JournalError: An event is missing or damaged.
        MachineError: A file cannot be written, or a film cannot be made.
    """
    data = gather(run)
    shots = side_by_side(data) if videos else ()
    short = clips(data, MOST_BYTES - sum(len(each.mp4) for each in shots)) if videos else ()
    document = compose(data, shots, short, videos=videos)
    contents = {
        HTML_NAME: to_html(document).encode(),
        MARKDOWN_NAME: to_markdown(document).encode(),
        **companions(document),
    }
    storage, prefix = (run.storage, f"{FOLDER}/") if out is None else (Storage.at(out), "")
    try:
        for name, content in contents.items():
            storage.write(prefix + name, content)
    except OSError as error:
        raise MachineError(f"the report cannot be written: {error}") from error
    return f"{run.shown}/{FOLDER}/{HTML_NAME}" if out is None else str(out / HTML_NAME)
