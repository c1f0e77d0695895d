"""How the search went: generations, speed against crashes, what was refused, and where the champion comes from."""

from collections import Counter
from collections.abc import Iterator

from actors.archive import Archive
from actors.finals import TRAINED_BASELINES
from actors.messages import ArchiveEntry, Candidate, Finding, Fitness
from actors.pareto import speed_crash_front
from orchestrator.lineage import Answer, Step, program_difference
from orchestrator.report import plots, style
from orchestrator.report.document import (
    Absent,
    Block,
    Code,
    Column,
    Details,
    Paragraph,
    Picture,
    Points,
    Quote,
    Section,
    Table,
    row,
)
from orchestrator.report.gather import ReportData
from orchestrator.report.plots import Dot
from orchestrator.report.wording import author, counted, listed, named

_LINES = ("slower", "idm", "mobil", *TRAINED_BASELINES)
"""Baselines that are drawn as lines over the generations."""
_REFUSED_SHOWN = 8
_DIFFS_SHOWN = 12
"""Steps of a lineage whose programs are shown; those nearest to the champion."""


def generations(data: ReportData) -> Section:
    """Return how fitness rose, or did not."""
    title = "Fitness by generation"
    judged = [(entry, entry.fitness) for entry in data.record.archive.entries() if entry.fitness is not None]
    if not judged:
        return Section("generations", title, (Absent("No candidate has been judged."),))
    ancestors = {step.child.candidate.id for step in data.lineage}
    dots = [_dot(entry.candidate, fitness, ancestors) for entry, fitness in judged]
    scores = {each: data.record.score(each) for each in sorted({entry.candidate.generation for entry, _ in judged})}
    best = {each: score.best for each, score in scores.items() if score.best is not None}
    mean = {each: score.mean for each, score in scores.items() if score.mean is not None}
    wide, narrow = plots.generations(dots, best, mean, _baseline_lines(data.record.archive))
    caption = (
        "Every dot is a candidate; the champion and those it descends from are in a stronger blue, dashed lines are "
        "baselines. Scores are those of one training each on the selection episodes."
    )
    picture = Picture(name="generations", title="Fitness over generations", caption=caption, wide=wide, narrow=narrow)
    return Section("generations", title, (picture,))


def _dot(candidate: Candidate, fitness: Fitness, ancestors: set[str]) -> Dot:
    mine = candidate.id in ancestors
    colour = style.CHAMPION if mine else style.CANDIDATE
    return Dot(name="", x=candidate.generation, y=fitness.value, colour=colour, joined=mine)


def _baseline_lines(archive: Archive) -> dict[str, float]:
    known = {name: archive.baselines[name].fitness for name in _LINES if name in archive.baselines}
    return {named(name): each.value for name, each in known.items() if each is not None}


def pareto(data: ReportData) -> Section:
    """Return speed against crash rate over the whole archive, with its front."""
    title = "Speed against safety"
    archive = data.record.archive
    front = {point.name for point in speed_crash_front(archive)}
    if not front:
        return Section("pareto", title, (Absent("Nobody's speed and crash rate have been measured."),))
    # One that was stopped was measured on the way, and is no driver that anyone could have.
    metrics = {
        entry.candidate.id: entry.outcome.metrics
        for entry in archive.entries()
        if entry.outcome is not None and entry.outcome.status == "trained"
    }
    drivers = {name: each.metrics for name, each in archive.baselines.items()}
    dots = [
        Dot(
            name=named(name) if name in front or name in drivers else "",
            x=each["speed_ms"],
            y=100.0 * each["crash_rate"],
            colour=style.BASELINE if name in drivers else style.CHAMPION if name in front else style.CANDIDATE,
            joined=name in front,
        )
        for name, each in {**metrics, **drivers}.items()
        if "speed_ms" in each and "crash_rate" in each
    ]
    wide, narrow = plots.plane(dots, "speed while driving, m/s", "episodes that crash, %", "the front")
    caption = (
        "Right is faster, down is safer. Nobody beats those on the front in both at once; candidates are blue, "
        "baselines grey."
    )
    picture = Picture(name="pareto", title="Speed against crash rate", caption=caption, wide=wide, narrow=narrow)
    return Section("pareto", title, (picture,))


def gate(data: ReportData) -> Section:
    """Return what was refused before it could cost a training, by reason."""
    refusals = list(data.record.archive.refusals.values())
    title = "What was refused"
    if not refusals:
        return Section(
            "gate", title, (Paragraph("Nothing: every program that was proposed passed language, gate and linter."),)
        )
    accepted = sum(each.role == "candidate" for each in data.record.archive.candidates.values())
    counts = Counter(refusal.code for refusal in refusals)
    wide, narrow = plots.bars(
        {"accepted": accepted, **dict(counts.most_common())}, "programs", {"accepted": style.GOOD}
    )
    caption = (
        f"{counted(len(refusals), 'proposal')} refused by the reward language (E_…), the gate (GATE_…) or the linter "
        "(LINT_…), by reason, beside those that were trained."
    )
    picture = Picture(name="gate", title="Refused proposals by reason", caption=caption, wide=wide, narrow=narrow)
    examples = {refusal.code: refusal for refusal in reversed(refusals)}
    shown = [examples[code] for code, _ in counts.most_common(_REFUSED_SHOWN)]
    table = Table(
        columns=(Column("reason"), Column("one of them"), Column("why"), Column("written by")),
        rows=tuple(row(each.code, each.id, each.reason, each.origin) for each in shown),
        caption="The first proposal that each reason stopped.",
    )
    return Section("gate", title, (picture, Details("One example of each", (table,))))


def lineage(data: ReportData) -> Section:
    """Return the champion's ancestors, what changed at each step, and which critique the change answers."""
    title = "Where the champion comes from"
    if not data.lineage:
        return Section("lineage", title, (Absent("There is no champion yet."),))
    hidden = max(0, len(data.lineage) - _DIFFS_SHOWN)
    blocks: list[Block] = [_lineage_table(data.lineage)]
    if hidden:
        blocks.append(Absent(f"The {hidden} oldest of {len(data.lineage)} are in the table alone."))
    shown = [step for step in data.lineage[hidden:] if step.parents]
    blocks += [Details(_step_title(step), tuple(_step(step, data))) for step in shown]
    return Section("lineage", title, tuple(blocks))


def _lineage_table(steps: tuple[Step, ...]) -> Table:
    rows = [
        row(
            step.child.candidate.id,
            "" if step.child.fitness is None else f"{step.child.fitness.value:.3f}",
            author(step.child.candidate),
            listed([each.parent.candidate.id for each in step.parents]) or "nobody",
            kind="champion" if step is steps[-1] else "",
        )
        for step in steps
    ]
    return Table(
        columns=(Column("candidate"), Column("fitness", True), Column("written by"), Column("from")),
        rows=tuple(rows),
        caption="The champion and those it descends from, the oldest first; each step is opened below.",
    )


def _step_title(step: Step) -> str:
    return f"{listed([each.parent.candidate.id for each in step.parents])} → {step.child.candidate.id}"


def _step(step: Step, data: ReportData) -> Iterator[Block]:
    for each in step.parents:
        if len(step.parents) > 1:
            yield Paragraph(f"From {each.parent.candidate.id}:")
        if each.answers:
            yield Points(tuple(_answered(answer, step.child) for answer in each.answers))
        critique = each.parent.critique
        if critique is not None and critique.comment:
            yield Quote(critique.comment, f"What a language model said about {each.parent.candidate.id}")
        lines = program_difference(each.parent, step.child)
        yield Code("\n".join(lines), "diff") if lines else Paragraph("The programs are equal.")
    reply = data.record.replies.get(step.child.candidate.exchange or "")
    if reply is not None:
        inner = Quote(reply.text, f"What {reply.model} answered; {step.child.candidate.id} was taken from it")
        yield Details("The model's words", (inner,))


def _answered(answer: Answer, child: ArchiveEntry) -> str:
    """Say what was found in the parent and what became of it."""
    outcome = {None: "not looked at in the child", True: "still found", False: "no longer found"}[answer.persists]
    changes = [f"{name} {before:.3g} → {after:.3g}" for name, (before, after) in sorted(answer.measures.items())]
    told = f"; {', '.join(changes)}" if changes else ""
    return f"{point(answer.finding)} In {child.candidate.id}: {outcome}{told}."


def point(finding: Finding) -> str:
    """Return a finding as a sentence."""
    return f"{finding.name}: {finding.sentence}."
