"""What anyone can see for themselves: what detectors found, with clips, and films of the same traffic."""

from actors.messages import ArchiveEntry, Finding
from orchestrator.report.document import (
    Absent,
    Block,
    Cell,
    Clip,
    Column,
    Details,
    Paragraph,
    Row,
    Section,
    Table,
    row,
)
from orchestrator.report.films import Shot
from orchestrator.report.gather import ReportData
from orchestrator.report.wording import counted, interval_text, listed

_WHICH = 6
"""Candidates with a finding that are named."""
_TOLD = (
    "A reward can be earned without good driving. Detectors look at the measured driving of every candidate for the "
    "ways in which that is done; each has a threshold, a number, and an episode that shows it."
)


def detectors(data: ReportData, clips: tuple[Shot, ...]) -> Section:
    """Return what was found in the champion and in all candidates.

    Args:
        data: The run.
        clips: Films of the parts of episodes that findings are about.
    """
    title = "Gaming the reward?"
    archive = data.record.archive
    criticised = [entry for entry in archive.entries() if entry.critique is not None]
    if not criticised:
        return Section("detectors", title, (Absent("No candidate has been criticised."),))
    blocks: list[Block] = [Paragraph(_TOLD)]
    if data.champion is not None and data.champion.critique is not None:
        blocks.append(_findings(data.champion))
    blocks.append(Details("How often each was found in all candidates", (_counts(criticised),)))
    blocks += [Clip(name=each.name, caption=each.caption, mp4=each.mp4) for each in clips]
    if not clips:
        blocks.append(Absent("No clip: no finding names the frames that show it, or films were left out."))
    return Section("detectors", title, tuple(blocks))


def _findings(champion: ArchiveEntry) -> Block:
    name, critique = champion.candidate.id, champion.critique
    if critique is None or not critique.findings:
        return Paragraph(f"In {name}, the champion, nothing was found.")
    return Table(
        columns=(
            Column("found"),
            Column("what it says"),
            Column("value", True),
            Column("threshold", True),
            Column("threshold from"),
            Column("shown by"),
        ),
        rows=tuple(_finding(each) for each in critique.findings),
        caption=f"What was found in {name}, the champion. Not every finding is a fault: some say what costs it most.",
    )


def _finding(finding: Finding) -> Row:
    between = interval_text(*finding.interval, ".3g") if len(finding.interval) == 2 else ""
    value = Cell("") if finding.value is None else Cell(f"{finding.value:.3g}", between)
    threshold = "" if finding.threshold is None else f"{finding.threshold:.3g}"
    seen = "" if finding.seed is None else f"seed {finding.seed}"
    if len(finding.frames) == 2:
        seen += f", frames {finding.frames[0]} to {finding.frames[1]}"
    return row(finding.name, finding.sentence, value, threshold, finding.source, seen)


def _counts(criticised: list[ArchiveEntry]) -> Table:
    found: dict[str, list[str]] = {}
    for entry in criticised:
        for finding in entry.critique.findings if entry.critique is not None else ():
            found.setdefault(finding.name, []).append(entry.candidate.id)
    ordered = sorted(found.items(), key=lambda pair: -len(pair[1]))
    return Table(
        columns=(Column("found"), Column("candidates", True), Column("which")),
        rows=tuple(row(name, str(len(ids)), _which(ids)) for name, ids in ordered),
        caption=f"Findings in {counted(len(criticised), 'candidate')}.",
    )


def _which(ids: list[str]) -> str:
    more = len(ids) - _WHICH
    return listed(ids) if more <= 0 else f"{', '.join(ids[:_WHICH])} and {more} more"


def films(data: ReportData, shots: tuple[Shot, ...], *, wanted: bool) -> Section:
    """Return films of the champion, the native-reward agent and IDM in the same traffic.

    Args:
        data: The run.
        shots: The films.
        wanted: Whether films were asked for.
    """
    title = "See them drive"
    if not shots:
        why = "no policy of the champion could be read" if wanted else "they were left out (--no-videos)"
        return Section("films", title, (Absent(f"There are no films: {why}."),))
    told = Paragraph(
        "The same traffic, driven by each: the first report episodes, not chosen for what they show. The green car is "
        "the agent; a strip stays on its last picture once its episode has ended."
    )
    return Section(
        "films", title, (told, *(Clip(name=each.name, caption=each.caption, mp4=each.mp4) for each in shots))
    )
