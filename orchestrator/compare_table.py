"""The table of `orchestrate compare`, with what has to be known before it is believed."""

import statistics
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from actors.aggregate import Estimate
from orchestrator.compare import Compared, Group
from orchestrator.console import shown

LEGEND = (
    "M steps: environment steps in millions of search and finals, up to the choice of the champion; IQM: interquartile "
    "mean; P: probability that a search of the first row finds a better driver than one of this row, ties counting "
    "half; in brackets: 95 % stratified bootstrap intervals over runs (Agarwal et al. 2021), too narrow for few runs"
)
_FIGURES = {
    "confirmed": "fitness of the champions on report episodes, which selected nobody, over fresh trainings",
    "selection": "fitness of the champions as they were selected",
}


def print_comparison(out: Console, compared: Compared) -> None:
    """Print a comparison: what is compared, the table, warnings."""
    out.print(shown(_FIGURES[compared.figure]))
    out.print()
    out.print(comparison_table(compared))
    out.print()
    for warning in compared.warnings:
        out.print(shown(f"warning: {warning}", style="yellow"))
    out.print(shown(LEGEND, style="dim"))


def comparison_table(compared: Compared) -> Table:
    """Return the groups, one a row."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("", min_width=10)
    titles = ["runs", "M steps", "mean", "IQM", "best", "P"]
    if compared.reach is not None:
        titles.append(f"to {compared.reach:g}")
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    for group in compared.groups:
        table.add_row(*(shown(cell) for cell in _cells(group, compared.groups[0].scored, compared.reach)))
    return table


def _cells(group: Group, first: int, reach: float | None) -> Iterator[str]:
    count = len(group.repeats)
    yield group.name
    yield str(count) if group.scored == count else f"{group.scored} of {count}"
    yield f"{_millions(group.search_steps)}+{_millions(group.finals_steps)}"
    yield "" if group.mean is None else f"{group.mean.value:.3f}"
    yield _with_interval(group.iqm, 3, group.scored)
    yield "" if group.best is None else f"{group.best:.3f}"
    yield _with_interval(group.improvement, 2, min(first, group.scored))
    if reach is not None:
        found = [each.steps_to_reach for each in group.repeats if each.steps_to_reach is not None]
        yield f"{_millions(statistics.median(found))} M ({len(found)} of {count})" if found else f"none of {count}"


def _with_interval(estimate: Estimate | None, digits: int, repeats: int) -> str:
    """Return an estimate; of a single repeat without an interval, which it cannot have."""
    if estimate is None:
        return ""
    if repeats < 2:
        return f"{estimate.value:.{digits}f}"
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _millions(steps: float) -> str:
    return f"{steps / 1e6:.2f}"
