"""The champion itself: its program, how it learned, what each component is worth."""

from collections.abc import Iterator

from actors.finals import NATIVE, members
from actors.messages import ArchiveEntry
from actors.outcome import CurvePoint
from orchestrator.report import plots, style
from orchestrator.report.document import (
    Absent,
    Block,
    Code,
    Column,
    Details,
    Paragraph,
    Picture,
    Section,
    Table,
    row,
)
from orchestrator.report.gather import ReportData
from orchestrator.report.plots import Estimate, Learner
from orchestrator.report.wording import author, difference_text, fitness_text, named, steps_text

_NOBODY = Absent("There is no champion yet.")


def program(data: ReportData) -> Section:
    """Return the champion's program and what was said about it before training."""
    title = "The champion's program"
    if data.champion is None:
        return Section("program", title, (_NOBODY,))
    candidate = data.champion.candidate
    blocks: list[Block] = [
        Paragraph(
            f"{candidate.id}, written by {author(candidate)}. Its value is the reward of one decision; what it returns "
            "beside that are its components."
        ),
        Code(candidate.source, "python"),
    ]
    if candidate.warnings:
        rows = tuple(row(each) for each in candidate.warnings)
        blocks.append(
            Table(
                columns=(Column("warning"),),
                rows=rows,
                caption="What the gate said against it; it was trained all the same.",
            )
        )
    if candidate.lint:
        blocks.append(
            Table(
                columns=(Column("finding"), Column("what it says"), Column("value", True), Column("threshold", True)),
                rows=tuple(
                    row(each.name, each.sentence, _number(each.value), _number(each.threshold))
                    for each in candidate.lint
                ),
                caption="What the reward linter found before training, on recorded drives.",
            )
        )
    return Section("program", title, tuple(blocks))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def learning(data: ReportData) -> Section:
    """Return learning curves of the champion and of PPO under the native reward, and the champion's components."""
    title = "How it learned"
    if data.champion is None:
        return Section("learning", title, (_NOBODY,))
    name = data.champion.candidate.id
    mine, native = _curves(data, name), _curves(data, NATIVE)
    learners = [
        Learner(name=called, colour=colour, curves=curves)
        for called, colour, curves in (
            (f"champion {name}", style.CHAMPION, mine),
            (named(NATIVE), style.NATIVE, native),
        )
        if curves
    ]
    if not learners:
        return Section("learning", title, (Absent("The run keeps no learning curve of the champion."),))
    wide, narrow = plots.learning(learners)
    caption = (
        "Episodes of the training itself, while the agents still explore: highway-env's own return, and the share that "
        f"crashed. One line for each training ({_how_many(mine, native)})."
    )
    blocks: list[Block] = [Picture(name="learning", title="Learning curves", caption=caption, wide=wide, narrow=narrow)]
    blocks.extend(_traces(data.champion))
    return Section("learning", title, tuple(blocks))


def _how_many(mine: tuple[tuple[CurvePoint, ...], ...], native: tuple[tuple[CurvePoint, ...], ...]) -> str:
    return f"{len(mine)} of the champion, {len(native)} of the baseline"


def _curves(data: ReportData, name: str) -> tuple[tuple[CurvePoint, ...], ...]:
    """Return the learning curves of the trainings that confirm, or else of the one of the search."""
    outcomes = data.record.archive.outcomes
    fresh = [each.id for each in members(data.record, "confirming", name) if each.id in outcomes]
    chosen = fresh or [key for key in (name,) if key in outcomes]
    return tuple(outcomes[each].curve for each in chosen if outcomes[each].curve)


def _traces(champion: ArchiveEntry) -> Iterator[Block]:
    outcome = champion.outcome
    if outcome is None or not outcome.traces:
        yield Absent("The run keeps no traces of the champion's components.")
        return
    wide, narrow = plots.traces(outcome.traces)
    caption = (
        "What each component paid per decision while the champion trained: the line is the mean, the band goes from "
        "the smallest to the largest value. “total” is the whole reward, “residual” what components leave "
        "unexplained, where they do."
    )
    yield Picture(name="components", title="Component traces", caption=caption, wide=wide, narrow=narrow)


def ablation(data: ReportData) -> Section:
    """Return what the champion is worth without each of its components."""
    title = "What each component is worth"
    found = data.record.ablation
    if found is None or not found.rows:
        return Section("ablation", title, (Absent("The champion was not trained without its components."),))
    estimates = [
        Estimate(
            name=f"without {each.component}",
            value=each.difference.value,
            low=each.difference.low,
            high=each.difference.high,
            colour=style.BAD
            if each.difference.high < 0.0
            else style.GOOD
            if each.difference.low > 0.0
            else style.MUTED,
        )
        for each in found.rows
        if each.difference is not None
    ]
    blocks: list[Block] = []
    if estimates:
        wide, narrow = plots.forest(
            estimates, "change of fitness against the whole program", zero="←  the component helped"
        )
        caption = (
            f"The champion retrained without one component at a time, once each for {steps_text(found.steps)} "
            "decisions: left of zero, driving got worse without it. Another training could differ by 0.05 to 0.07."
        )
        blocks.append(Picture(name="ablation", title=title, caption=caption, wide=wide, narrow=narrow))
    rows = tuple(
        row(
            each.component,
            fitness_text(each.fitness) if each.fitness is not None else "",
            difference_text(each.difference) if each.difference is not None else "",
            each.reason,
        )
        for each in found.rows
    )
    columns = (Column("without"), Column("fitness", True), Column("change", True), Column(""))
    table = Table(columns=columns, rows=rows, caption="Fitness without each component, with 95 % intervals.")
    return Section("ablation", title, (*blocks, Details("The same as a table", (table,))))
