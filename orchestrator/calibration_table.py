"""A calibration as tables, and in words what does not pay."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from actors.calibration import LEAST_FLAGGED, LEAST_SCORED, Calibration, FlagCalibration, Kept, ScoreCalibration
from orchestrator.console import shown

LEGEND = (
    "A filter keeps what it does not flag, or the better half by its score. good: among the best tenth of a search or "
    "above ppo-native; prec.: share of the kept that is good; recall: share of the good that is kept; lost: share of "
    "good ones among what is not kept; top: share of the best tenth that is kept"
)
_STYLES = {"pays": "green", "does not pay": "red", "warning at most": "yellow"}


def print_calibration(out: Console, found: Calibration) -> None:
    """Print a calibration."""
    out.print(shown(heading(found)))
    for table in (flag_table(found), score_table(found), rung_table(found)):
        if table.row_count:
            out.print()
            out.print(table)
    out.print()
    for sentence in verdicts(found):
        out.print(shown(sentence))
    out.print(shown(LEGEND, style="dim"))


def heading(found: Calibration) -> str:
    """Say in a sentence or two what was looked at."""
    words = [f"{found.count} programs were trained to the end; {found.good} of them are good."]
    if found.stopped:
        words.append(f"{found.stopped} were stopped early and count nowhere: nobody knows what they would have become.")
    if found.refused:
        listed = ", ".join(f"{count} {code}" for code, count in found.refused.items())
        words.append(f"Refused and never trained, so that nothing can be said of the refusals: {listed}.")
    return " ".join(words)


def flag_table(found: Calibration) -> Table:
    """Return refusals and findings, one a row."""
    table = _table("flag", "flagged", "of")
    for each in found.flags:
        _row(table, each, each.kept.count - each.kept.kept, each.kept.count)
    return table


def score_table(found: Calibration) -> Table:
    """Return scores, one a row."""
    table = _table("score", "Spearman", "of")
    for each in found.scores:
        _row(table, each, _number(each.agreement.spearman, "+.2f"), each.agreement.count)
    return table


def rung_table(found: Calibration) -> Table:
    """Return how rungs agree with what came after them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("rung")
    for title in ("against", "Spearman", "Kendall", "of"):
        table.add_column(title, justify="right")
    for each in found.rungs:
        mine = each.agreement
        table.add_row(
            f"{each.steps:,}",
            "the end" if each.final else f"{each.later:,}",
            _number(mine.spearman, "+.2f"),
            _number(mine.kendall, "+.2f"),
            str(mine.count),
        )
    return table


def verdicts(found: Calibration) -> Iterator[str]:
    """Say which filters do not pay, which may warn at most, and which nobody can judge yet."""
    every: list[FlagCalibration | ScoreCalibration] = [*found.flags, *found.scores]
    for verdict, what in (
        ("does not pay", "Does not pay, as far as these programs show"),
        ("warning at most", "Right more often than chance, but costs the best: may warn at most"),
        (
            "too few",
            f"Too few to judge (at least {LEAST_FLAGGED} trained programs under a flag, more where so few could not "
            f"tell it from chance; {LEAST_SCORED} with a score)",
        ),
    ):
        names = [each.name for each in every if each.verdict == verdict]
        if names:
            yield f"{what}: {', '.join(names)}"


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(titles[0], no_wrap=True)
    for title in (*titles[1:], "good", "prec.", "recall", "lost", "top"):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    return table


def _row(table: Table, each: FlagCalibration | ScoreCalibration, *figures: object) -> None:
    kept: Kept = each.kept
    shares = (kept.good, kept.precision, kept.recall, kept.good_among_lost, kept.top_kept)
    table.add_row(
        shown(each.name),
        *(str(figure) for figure in figures),
        *(_number(share, ".2f") for share in shares),
        shown(each.verdict, style=_STYLES.get(each.verdict, "")),
    )


def _number(value: float | None, spec: str) -> str:
    return "" if value is None else format(value, spec)
