"""What `orchestrate check --lint` prints: the gate's verdict and every number of the reward linter."""

from collections.abc import Iterator, Mapping

from actors.gate import Gate
from actors.lint_table import RULES, Measure
from actors.linter import Lint, Linter
from search_spaces.ppo import PPOSettings
from search_spaces.program import RewardProgram, Violation
from search_spaces.scenarios import Scenario


def examine(program: RewardProgram) -> tuple[list[str], bool]:
    """Say what gate and linter of a search on highway-fast-v0 make of a program.

    Returns:
        Lines to print, and whether one of the two refuses it.
    """
    refusal = Gate(Scenario()).judge(program)
    linter = Linter(Scenario(), PPOSettings().discount)
    lint = linter.lint(program)
    lines = [f"  gate      {_verdict(refusal)}", f"  linter    {_verdict(lint.refusal)}, {_count(lint)}"]
    lines += _rows(lint.measures)
    lines += _sensitivity(linter.sensitivity(program))
    return lines, refusal is not None or lint.refusal is not None


def _verdict(refusal: Violation | None) -> str:
    return "passed" if refusal is None else f"refused, {refusal.code}: {refusal.message}. {refusal.hint}"


def _count(lint: Lint) -> str:
    found = len(lint.findings)
    return f"{found or 'no'} finding{'' if found == 1 else 's'} by {len(lint.measures)} rules"


def _rows(measures: tuple[Measure, ...]) -> Iterator[str]:
    if measures:
        yield f"  {'':2}{'rule':22}{'number':>10}  {'limit':>10}"
    for measure in measures:
        rule = RULES[measure.rule]
        found = rule.found(measure.value)
        limit = f"{'>' if rule.side == 'above' else '<'} {rule.threshold:g}"
        said = f"  {rule.effect}: {measure.sentence}" if found else ""
        yield f"  {'!' if found else '':2}{rule.name:22}{measure.value:>10.3g}  {limit:>10}{said}"


def _sensitivity(shares: Mapping[str, float]) -> Iterator[str]:
    if shares:
        yield "  fields, and in how many states the reward changes with each:"
        yield "    " + ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
