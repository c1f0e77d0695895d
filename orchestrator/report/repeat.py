"""The end of a report: what the search has cost, and what anyone needs to repeat it."""

import shlex

from actors.messages import Candidate
from orchestrator.config import CONFIG_NAME
from orchestrator.progress import duration
from orchestrator.provenance import versions
from orchestrator.report.document import Absent, Block, Code, Column, Details, Facts, Points, Section, Table, row
from orchestrator.report.gather import ReportData
from orchestrator.report.wording import counted, steps_text
from search_spaces.scenarios import SEED_SETS, seed_sets_digest


def costs(data: ReportData) -> Section:
    """Return tokens, seconds and environment steps, by part of the search."""
    total_steps, total_s = sum(each.env_steps for each in data.costs), sum(each.training_s for each in data.costs)
    rows = [
        row(each.part, str(each.trainings), steps_text(each.env_steps), duration(each.training_s))
        for each in data.costs
    ]
    trainings = sum(each.trainings for each in data.costs)
    rows.append(row("together", str(trainings), steps_text(total_steps), duration(total_s), kind="champion"))
    parts = Table(
        columns=(Column("part"), Column("trainings", True), Column("decisions", True), Column("worker time", True)),
        rows=tuple(rows),
        caption=f"Trainings with their evaluations, summed over workers; the search itself took "
        f"{duration(data.record.wall_s)}.",
    )
    blocks: list[Block] = [parts]
    if data.tokens:
        blocks.append(_tokens(data))
    else:
        blocks.append(Absent("No language model was asked, so no tokens were spent."))
    return Section("costs", "What it cost", tuple(blocks))


def _tokens(data: ReportData) -> Table:
    rows = [
        row(
            each.purpose,
            str(each.exchanges),
            str(each.failures) if each.failures else "",
            steps_text(each.prompt_tokens),
            steps_text(each.completion_tokens),
        )
        for each in data.tokens
    ]
    titles = ("questions", "unanswered", "tokens read", "tokens written")
    return Table(
        columns=(Column("asked for"), *(Column(each, True) for each in titles)),
        rows=tuple(rows),
        caption="What was asked of the language model, as the provider counted it.",
    )


def repeat(data: ReportData) -> Section:
    """Return commands, versions, seeds and digests."""
    blocks: list[Block] = [Code(_commands(data), "sh")]
    notices = data.record.notices
    blocks.append(Facts(tuple(_facts(data))))
    if len(data.sessions) > 1:
        told = tuple(f"{each.started}: {each.command}" for each in data.sessions)
        blocks.append(Details(f"The {len(data.sessions)} starts of this run", (Points(told),)))
    blocks.append(Details("Digests of all programs", (_digests(data),)))
    if notices:
        blocks.append(Details(f"What the search said besides ({counted(len(notices), 'notice')})", (Points(notices),)))
    return Section("repeat", "How to repeat it", tuple(blocks))


def _commands(data: ReportData) -> str:
    run = shlex.quote(data.run.shown)
    lines = []
    if data.sessions:
        lines += ["# as it was started", data.sessions[0].command]
    config = shlex.quote(f"{data.run.shown}/{CONFIG_NAME}")
    alone = " --llm none" if data.plan.llm.spec is None else ""
    lines += [
        "# the same search again, from the settings that the run keeps",
        f"orchestrate --local --config {config}{alone} --out AGAIN",
    ]
    if data.champion is not None:
        name = shlex.quote(data.champion.candidate.id)
        lines += [
            "# the champion on episodes that selected nobody, in this project's simulator and in highway-env",
            f"orchestrate evaluate {run} {name} --episodes 500",
            f"orchestrate evaluate {run} {name} --episodes 100 --upstream",
        ]
    return "\n".join([*lines, "# this report", f"orchestrate report {run}"])


def _facts(data: ReportData) -> list[tuple[str, str]]:
    facts = [("Run", data.plan.search_id), ("Seed of the search", str(data.plan.seed))]
    known = data.sessions[-1].versions if data.sessions else {}
    if known:
        facts.append(("Versions", ", ".join(f"{name} {each}" for name, each in known.items())))
        facts.append(("Machine", data.sessions[-1].machine))
    else:
        here = ", ".join(f"{name} {each}" for name, each in versions().items())
        facts.append(("Versions", f"the run does not say; this report was made with {here}"))
    sets = ", ".join(f"{each.name} from {each.first}" for each in SEED_SETS.values())
    facts.append(("Seed sets", f"{sets}\nSHA-256 {seed_sets_digest()}"))
    confirmed = data.record.confirmed
    if confirmed is not None and confirmed.seeds_digest != seed_sets_digest():
        facts.append(("Seed sets then", f"SHA-256 {confirmed.seeds_digest}: the finals met other traffic than today's"))
    if data.champion is not None:
        facts.append(("Program of the champion", f"SHA-256 {data.champion.candidate.digest}"))
    return facts


def _digests(data: ReportData) -> Table:
    programs: list[Candidate] = [each for each in data.record.archive.candidates.values() if each.digest]
    return Table(
        columns=(Column("candidate"), Column("training seed", True), Column("program digest")),
        rows=tuple(row(each.id, str(each.seed), each.digest) for each in programs),
        caption="A digest names what a program computes, whatever its layout.",
    )
