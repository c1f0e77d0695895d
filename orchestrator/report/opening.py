"""The beginning of a report: what was asked, and what came of it in two sentences."""

import math
from collections.abc import Iterator, Mapping

from actors.difference import WORDS, Difference
from actors.finals import NATIVE
from actors.messages import Fitness
from actors.upstream_comparison import Replay
from orchestrator.progress import duration
from orchestrator.report.claim import Claim
from orchestrator.report.document import Absent, Block, Facts, Lead, Paragraph, Quote, Section, Tile, Tiles
from orchestrator.report.gather import ReportData
from orchestrator.report.wording import (
    counted,
    fitness_text,
    interval_text,
    listed,
    named,
    rival,
    steps_text,
)
from orchestrator.verdict import CARELESS, NOTHING, given_words

_WHAT_THIS_IS = (
    "A reward program tells a learning driver, decision by decision, how well it is doing. This search wrote such "
    "programs, trained one agent with each (PPO, in the traffic of highway-env), and measured how the agents then "
    "drive. A program is judged by that driving alone, never by the reward that it pays itself: the fitness, from 0 to "
    "1, adds up speed, overtaking, comfort, distance to others and progress, and a safety gate takes nearly all of it "
    "away from a car that crashes often."
)
_AT_A_GLANCE = (
    ("crash_rate", "episodes that crash", "%", 100.0),
    ("progress_ms", "mean progress", "m/s", 1.0),
    ("overtakes_per_min", "net overtakes a minute", "", 1.0),
    ("native_return", "highway-env's own return", "", 1.0),
)
"""Measures of the champion that are shown large: name, label, unit, and the factor between the two."""
_SINGLE = (
    " (who is ahead, level or behind is so in a single training: another may come out 0.05 to 0.07 higher or lower)"
)
_STRATEGIES = {
    "evolve": "each generation improves on the best so far",
    "best-of-n": "no generation learns from another (control)",
    "eureka": "each generation improves on the single best (control)",
    "random": "programs are drawn at random (control)",
}


def asked(data: ReportData) -> Section:
    """Return what was asked for, in whose words, at which price."""
    plan, record = data.plan, data.record
    scenario = plan.scenario
    pairs = [
        ("Programs written by", _writer(data)),
        ("Strategy", f"{plan.strategy}: {_STRATEGIES[plan.strategy]}"),
        (
            "Budget",
            f"{counted(plan.generations, 'generation')} of {counted(plan.population, 'candidate')}, each trained for "
            f"{steps_text(plan.steps)} decisions",
        ),
        (
            "Road",
            f"{counted(scenario.lanes, 'lane')}, {scenario.vehicles} other cars, density {scenario.density:g}, "
            f"episodes of {scenario.duration} s",
        ),
        ("Judged on", f"{counted(plan.held_out, 'episode')} for each, which no training ever sees"),
        ("Took", f"{duration(record.wall_s)}"),
    ]
    return Section(
        "asked",
        "What was asked",
        (
            Paragraph(_WHAT_THIS_IS),
            Quote(plan.goal, "The goal, as it was given"),
            Facts(tuple(pairs)),
        ),
    )


def _writer(data: ReportData) -> str:
    if data.plan.llm.spec is None:
        return "evolution, without a language model"
    models = sorted({reply.model for reply in data.record.replies.values()})
    return f"a language model: {listed(models) if models else data.plan.llm.spec}"


def verdict(data: ReportData) -> Section:
    """Return what came of it: two sentences, and the numbers behind them at a glance."""
    claim = data.claim
    if claim is None or claim.fitness is None:
        return Section("verdict", "The verdict", (Absent(f"{_state(data)} No candidate has been judged."),))
    blocks: list[Block] = []
    if not data.record.finished:
        blocks.append(Absent(f"{_state(data)} What follows holds for the best candidate so far."))
    blocks += [Lead(_first_sentence(data, claim, claim.fitness)), Lead(_second_sentence(data))]
    blocks.append(Tiles(tuple(_tiles(claim, claim.fitness))))
    return Section("verdict", "The verdict", tuple(blocks))


def _state(data: ReportData) -> str:
    states = {"running": "The search is still running.", "interrupted": "The search was interrupted and can go on."}
    return states.get(data.state, "The search has finished.")


def _first_sentence(data: ReportData, claim: Claim, fitness: Fitness) -> str:
    measured = counted(claim.episodes, "episode")
    if claim.confirmed:
        broken = f" ({claim.broken} more broke and are left out)" if claim.broken else ""
        how = f"over {counted(claim.replicates, 'fresh training')}{broken}, each measured on {measured} that selected "
        how += "nobody"
    else:
        how = f"on the {measured} that selected it, so that some of it may be luck"
    score = fitness_text(fitness)
    against = _against(claim.differences) if claim.differences else _by_value(data, fitness)
    given = given_words(data.record, claim.name)
    name = f"{claim.name}, {given}" if given else claim.name
    return f"The champion, {name}, reaches a fitness of {score} {how}; {against}."


def _against(differences: Mapping[str, Difference]) -> str:
    """Say against whom it is better, worse, or neither."""
    parts = []
    nothing = [differences[name] for name in NOTHING if name in differences]
    if nothing:
        least = max((each.words for each in nothing), key=WORDS.index)
        parts.append(f"that is {least if least in WORDS[:2] else 'NOT shown to be better than'} doing nothing")
    # Of the drivers that look at nothing, those that do nothing stand for all that are beaten.
    told = {
        name: each
        for name, each in differences.items()
        if name not in NOTHING and not (name in CARELESS and each.low > 0.0)
    }
    for words in WORDS:
        found = [rival(name) for name, each in told.items() if each.words == words]
        if found:
            parts.append(f"{words} {listed(found)}")
    return "; ".join(parts) + (_SINGLE if any(each.alone for each in differences.values()) else "")


def _by_value(data: ReportData, fitness: Fitness) -> str:
    """Say above and below whom it lies where no single episodes are kept that could be compared."""
    known = {name: each.fitness for name, each in data.record.archive.baselines.items()}
    values = {name: each.value for name, each in known.items() if each is not None}
    parts = []
    for words, found in (
        ("above", [named(name) for name, value in values.items() if value < fitness.value]),
        ("below", [named(name) for name, value in values.items() if value > fitness.value]),
    ):
        if found:
            parts.append(f"{words} {listed(found)}")
    told = f"by value alone, without intervals, it lies {listed(parts)}" if parts else ""
    return told or "it was compared with no baseline"


def _second_sentence(data: ReportData) -> str:
    replay = data.record.replay
    if replay is None:
        return (
            "highway-env itself has not been asked: the champion was not replayed there, so that only this project's "
            "own simulator, which is tested to equal it, vouches for the figures."
        )
    same = replay.episodes - len(replay.differing)
    if replay.reason:
        return f"highway-env itself could not be asked, so that only this project's simulator vouches: {replay.reason}."
    if replay.broken:
        return (
            f"highway-env itself disagrees in {len(replay.differing)} of {counted(replay.episodes, 'episode')} "
            "although the arithmetic of the machine is the same: none of the figures can be trusted."
        )
    if replay.differing:
        return (
            f"highway-env itself agrees in {same} of {counted(replay.episodes, 'episode')} to the last bit; this "
            f"machine's arithmetic differs, so that the others decide nothing{_redelivered(replay)}."
        )
    return (
        f"highway-env itself agrees: in all {counted(replay.episodes, 'episode')} that the champion drove there again, "
        f"it crashes, lasts and earns exactly the same{_redelivered(replay)}."
    )


def _redelivered(replay: Replay) -> str:
    """Say how many of these episodes are not those that the figures are made of."""
    if not replay.redelivered:
        return ""
    return (
        f", but {replay.redelivered} of these went otherwise in the trial that the figures come from: its machine "
        "rounds differently, or this is not its policy"
    )


def _tiles(claim: Claim, fitness: Fitness) -> Iterator[Tile]:
    between = interval_text(fitness.low, fitness.high)
    yield Tile(label="fitness of the champion", value=f"{fitness.value:.3f}", note=between or "no interval is known")
    native = claim.differences.get(NATIVE)
    if native is not None:
        note = interval_text(native.low, native.high, "+.3f")
        yield Tile(label="ahead of native-reward PPO", value=f"{native.value:+.3f}", note=note)
    for name, label, unit, scale in _AT_A_GLANCE:
        if name in claim.metrics:
            low, high = (scale * end for end in claim.intervals.get(name, (math.nan, math.nan)))
            note = "" if math.isnan(low) else interval_text(low, high, ".1f")
            yield Tile(label=label, value=f"{scale * claim.metrics[name]:.1f} {unit}".strip(), note=note)
