"""What anyone can see for themselves: what detectors found, with clips, and films of the same traffic."""

from collections.abc import Iterator

from actors.critique_text import disagreement
from actors.detector_table import DETECTORS
from actors.messages import ArchiveEntry, Critique, Finding
from orchestrator.report.document import (
    Absent,
    Block,
    Cell,
    Clip,
    Column,
    Details,
    Facts,
    Paragraph,
    Points,
    Quote,
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
        blocks += _critique(data.champion.candidate.id, data.champion.critique)
    blocks += [Clip(name=each.name, caption=each.caption, mp4=each.mp4) for each in clips]
    if not clips:
        blocks.append(Absent("There are no clips: films were left out, or no finding names the frames that show it."))
    blocks.append(Details("How often each was found in all candidates", (_counts(criticised),)))
    return Section("detectors", title, tuple(blocks))


def _critique(name: str, critique: Critique) -> Iterator[Block]:
    """Yield what detectors measured in the champion, what else was found, and what a model read in it."""
    measured = [(each, True) for each in critique.findings if each.name in DETECTORS]
    measured += [(each, False) for each in critique.cleared if each.name in DETECTORS]
    order = list(DETECTORS)
    if measured:
        yield Table(
            columns=(
                Column("habit"),
                Column(""),
                Column("measured", True),
                Column("threshold", True),
                Column("episode", True),
            ),
            rows=tuple(_detected(*each) for each in sorted(measured, key=lambda pair: order.index(pair[0].name))),
            caption=f"What the detectors measured in {name}, the champion; a habit is found above its threshold.",
        )
    else:
        yield Paragraph(f"No detector has measured {name}, the champion.")
    others = [each for each in critique.findings if each.name not in DETECTORS]
    if others:
        yield Points(tuple(f"{each.name}: {each.sentence}" for each in others))
    if critique.comment:
        yield Quote(critique.comment, f"What a language model read in the same evidence of {name}")
    if critique.disagreements:
        said = "\n".join(disagreement(each, critique) for each in critique.disagreements)
        yield Quote(said, "Where the reading and a detector disagree")
    yield Details("Where the thresholds come from", (Facts(tuple(_threshold(each) for each in order)),))


def _detected(finding: Finding, found: bool) -> Row:
    between = interval_text(*finding.interval, form=".3g") if len(finding.interval) == 2 else ""
    value = Cell("") if finding.value is None else Cell(f"{finding.value:.3g}", between)
    threshold = "" if finding.threshold is None else f"{finding.threshold:.3g}"
    frames = f"frames {finding.frames[0]}-{finding.frames[1]}" if len(finding.frames) == 2 else ""
    seen = Cell("" if finding.seed is None else str(finding.seed), frames)
    habit = Cell(finding.name, DETECTORS[finding.name].looks_for)
    return row(habit, "FOUND" if found else "no", value, threshold, seen, kind="failed" if found else "")


def _threshold(name: str) -> tuple[str, str]:
    detector = DETECTORS[name]
    return name, f"{detector.measure}, above {detector.threshold:g}. {detector.source}"


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
