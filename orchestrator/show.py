"""What `orchestrate show` prints: a run, or one candidate of it. Works while the search runs."""

from collections import Counter

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from actors.archive import Archive
from actors.critique_text import disagreement
from actors.messages import ArchiveEntry
from actors.record import SearchRecord
from orchestrator import leaderboard
from orchestrator.console import plain, shown
from orchestrator.lineage import LONGEST, program_difference
from orchestrator.verdict import say_verdict

_REFUSALS_SHOWN = 10


def show_run(console: Console, record: SearchRecord, *, running: bool, limit: int | None = None) -> None:
    """Print a run: its plan, generations, leaderboard, the champion's lineage and what was refused.

    Args:
        console: Where to.
        record: The search.
        running: Whether a process writes it now.
        limit: How many candidates the leaderboard shows at most; None: all.
    """
    plan = record.plan
    if plan is None:
        console.print("the search has not started yet")
        return
    state = "finished" if record.finished else "running" if running else "interrupted"
    console.print(shown(f"{plan.search_id} ({state}): {plan.goal}"))
    console.print(
        shown(
            f"strategy {plan.strategy}, population {plan.population}, {plan.generations} generations, "
            f"{plan.steps} steps a candidate, seed {plan.seed}, {'LLM ' + plan.llm.spec if plan.llm.spec else 'no LLM'}"
        )
    )
    for generation, score in record.generations.items():
        told = "nobody was judged" if score.best is None else f"best {score.best:.3f}, mean {score.mean or 0:.3f}"
        console.print(f"generation {generation}: {told}")
    console.print()
    console.print(leaderboard.table(record, limit=limit))
    console.print(leaderboard.LEGEND, style="dim")
    for sentence in leaderboard.broken(record):
        console.print(shown(sentence, style="red"))
    console.print()
    say_verdict(console, record)
    named = record.champion or next((each.candidate.id for each in record.archive.top(1)), None)
    if named is not None:
        console.print()
        console.print(lineage(record.archive, record.archive.entry(named)))
    if record.archive.refusals:
        codes = Counter(refusal.code for refusal in record.archive.refusals.values())
        console.print(shown("refused: " + ", ".join(f"{count} {code}" for code, count in codes.most_common())))
        for refusal in list(record.archive.refusals.values())[:_REFUSALS_SHOWN]:
            console.print(shown(f"  {refusal.id} ({refusal.origin}) {refusal.code}: {refusal.reason}"))
        if len(record.archive.refusals) > _REFUSALS_SHOWN:
            console.print("  ... all of them are in summary.json, under refused")


def lineage(archive: Archive, entry: ArchiveEntry) -> Tree:
    """Return the ancestors of a candidate as a tree, each once."""
    tree = Tree(_ancestor(entry), guide_style="dim")
    seen = {entry.candidate.id}
    branches = [(tree, entry)]
    while branches and len(seen) < LONGEST:
        branch, child = branches.pop(0)
        for parent in child.candidate.parents:
            if parent in seen or parent not in archive.candidates:
                branch.add(shown(f"{parent} (above)" if parent in seen else parent, style="dim"))
                continue
            known = archive.entry(parent)
            seen.add(parent)
            branches.append((branch.add(_ancestor(known)), known))
    return tree


def _ancestor(entry: ArchiveEntry) -> Text:
    candidate = entry.candidate
    worth = f"{entry.fitness.value:.3f}" if entry.fitness is not None else leaderboard.status_of(entry)
    return shown(f"{candidate.id}  {worth}  {candidate.origin} {candidate.move}".rstrip())


def show_candidate(console: Console, record: SearchRecord, entry: ArchiveEntry) -> None:
    """Print one candidate: program, measures, critique, and its difference from each parent.

    Args:
        console: Where to.
        record: The search.
        entry: The candidate.
    """
    candidate = entry.candidate
    status = leaderboard.status_of(entry, record.assigned)
    console.print(shown(f"{candidate.id}: {status}, written by {candidate.origin} {candidate.move}".rstrip()))
    if entry.outcome is not None and entry.outcome.reason:
        console.print(shown(entry.outcome.reason, style="red"))
    for warning in candidate.warnings:
        console.print(shown(f"warning: {warning}", style="yellow"))
    for finding in candidate.lint:
        console.print(shown(f"before training, {finding.name}: {finding.sentence}", style="yellow"))
    console.print()
    console.print(shown(candidate.source, lines=True))
    if entry.fitness is not None:
        terms = ", ".join(f"{name} {value:.3f}" for name, value in entry.fitness.terms.items())
        console.print(f"fitness {entry.fitness.value:.4f} = gate {entry.fitness.gate:.3f} x ({terms}), weighted")
        console.print(leaderboard.bounds(entry.fitness))
    if entry.outcome is not None:
        known = record.archive.intervals.get(candidate.id, {})
        for name, value in entry.outcome.metrics.items():
            ends = f"{known[name][0]:.4g} to {known[name][1]:.4g}" if name in known else ""
            console.print(f"  {name:<24}{value:<10.4g}{ends}".rstrip())
    _show_critique(console, entry)
    for parent in record.archive.parents(candidate.id):
        console.print()
        console.print(difference(parent, entry))
    console.print()
    console.print(lineage(record.archive, entry))


def _show_critique(console: Console, entry: ArchiveEntry) -> None:
    if entry.critique is None:
        return
    for finding in entry.critique.findings:
        console.print(shown(f"{finding.name}: {finding.sentence}", style="yellow"))
    if entry.critique.comment:
        console.print(shown(entry.critique.comment, lines=True))
    for opinion in entry.critique.disagreements:
        console.print(shown(disagreement(opinion, entry.critique), style="yellow"))


def difference(parent: ArchiveEntry, child: ArchiveEntry) -> Text:
    """Return the difference between two programs as a coloured unified diff."""
    text = Text()
    for line in program_difference(parent, child):
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        text.append(plain(line) + "\n", style=style)
    return text or Text(f"{child.candidate.id} equals {parent.candidate.id}\n")
