"""The champion against each that it is compared with."""

from collections.abc import Mapping

from actors.difference import Difference
from orchestrator.report import plots
from orchestrator.report.document import Absent, Column, Details, Picture, Section, Table, row
from orchestrator.report.gather import ReportData
from orchestrator.report.plots import Estimate
from orchestrator.report.wording import difference_text, rival


def _shown(differences: Mapping[str, Difference]) -> str:
    """Say what a bar that does not touch zero means."""
    if any(each.alone for each in differences.values()):
        return (
            "A grey bar knows the episodes of a single training alone: another training may come out 0.05 to 0.07 "
            "higher or lower, so that it shows nothing wherever it lies."
        )
    return (
        "Where no difference is, chance alone puts a bar to the right of zero in 1 of 40 searches; of a dozen bars one "
        "may be such."
    )


def differences(data: ReportData) -> Section:
    """Return the champion against each that it is compared with, episode by episode."""
    claim = data.claim
    title = "Champion against baselines"
    if claim is None or not claim.differences:
        reason = "The run keeps no single episodes that a comparison could be paired over."
        return Section("differences", title, (Absent(reason),))
    where = "report episodes, which selected nobody" if claim.confirmed else "episodes that selected the champion"
    ordered = sorted(claim.differences.items(), key=lambda pair: -pair[1].value)
    wide, narrow = plots.forest(
        [
            Estimate(
                name=rival(name),
                value=each.value,
                low=each.low,
                high=each.high,
                colour=plots.verdict_colour(each),
            )
            for name, each in ordered
        ],
        "difference of fitness",
        zero="better than the baseline  →",
    )
    picture = Picture(
        name="differences",
        title="Paired differences between the champion and the baselines",
        caption=f"Paired over the same {where}: right of zero the champion is better. {_shown(claim.differences)}",
        wide=wide,
        narrow=narrow,
    )
    rows = [
        row(
            rival(name),
            difference_text(each),
            f"{100 * each.probability_of_improvement:.0f} %",
            difference_text(claim.native_returns[name], "+.2f") if name in claim.native_returns else "",
        )
        for name, each in ordered
    ]
    titles = ("fitness", "better training wins", "native return")
    table = Table(
        columns=(Column("champion against"), *(Column(each, True) for each in titles)),
        rows=tuple(rows),
        caption="Differences with 95 % intervals; the middle column is the share of all pairs of trainings, one of the "
        "champion and one of the other, in which the champion's drives better.",
    )
    return Section("differences", title, (picture, Details("The same as a table", (table,))))
