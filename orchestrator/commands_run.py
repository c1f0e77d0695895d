"""Commands that look at one run: `show`, `evaluate`, `report`, `ui`."""

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator import console, options
from search_spaces.errors import UsageError
from search_spaces.scenarios import REPORT, Scenario, scenario_named

if TYPE_CHECKING:
    from actors.generalisation import Generalisation
    from driving.lampilot import LampilotScores
    from orchestrator.evaluation import Entrant, Evaluation
    from orchestrator.runs import Run

_Named = Annotated[
    str, typer.Argument(metavar="CANDIDATE", help="A candidate id, best, or g03: the best of that generation.")
]


_CATCH_UP_S = 600.0
"""How long `ui` may take to write what a store lacks, s."""


def show(
    run: options.Run,
    candidate: Annotated[str | None, typer.Argument(metavar="CANDIDATE", help="One candidate in full.")] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Candidates on the leaderboard at most.")
    ] = None,
) -> None:
    """Show a run: leaderboard with baselines, lineage; or one candidate and its difference from its parents."""
    from orchestrator import show
    from orchestrator.evaluation import choose
    from orchestrator.runs import find_run

    found = find_run(run)
    record = found.record()
    if candidate is None:
        show.show_run(console.results(), record, running=found.is_being_written(), limit=limit)
    else:
        show.show_candidate(console.results(), record, choose(record.archive, candidate))


def evaluate(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help="A run's folder, or its name in runs/.")] = None,
    candidate: _Named = "best",
    driver: Annotated[
        str | None, typer.Option("--driver", metavar="NAME", help="A baseline driver instead of a candidate.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", metavar="NAME", help="A preset such as highway-v0.", show_default="the run's"),
    ] = None,
    episodes: Annotated[
        int | None,
        typer.Option("--episodes", metavar="N", min=1, help="Episodes.", show_default="500, with --upstream 20"),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Seed of the first episode.")] = REPORT.first,
    stochastic: Annotated[bool, options.switch("--stochastic", "Sample actions instead of the likeliest.")] = False,
    native: Annotated[bool, options.switch("--native", "Print the native return only.")] = False,
    upstream: Annotated[
        bool, options.switch("--upstream", "Simulate in highway-env itself, and count what differs from the kernel.")
    ] = False,
    matrix: Annotated[
        bool, options.switch("--matrix", "Also drive, beside the baselines, on roads that nobody was trained on.")
    ] = False,
    video: Annotated[
        Path | None, typer.Option("--video", metavar="FILE", help="Film the first episode as mp4.")
    ] = None,
    render: Annotated[bool, options.switch("--render", "Show the first episode in a window.")] = False,
    as_json: options.Json = None,
) -> None:
    """Measure a trained candidate, or a baseline driver, on episodes that training never saw."""
    from orchestrator import evaluation

    if video is not None and video.suffix.lower() != ".mp4":
        raise UsageError(f"--video {video}: expected a name that ends in .mp4, the only format that is written")
    found, entrant, home = _entrant(run, candidate, driver, seed if stochastic else None)
    road = home if scenario is None else scenario_named(scenario)
    count = episodes or (evaluation.UPSTREAM_EPISODES if upstream else evaluation.KERNEL_EPISODES)
    measured = evaluation.measure(entrant, road, range(seed, seed + count), upstream=upstream)
    scores = None if native else evaluation.compatibility(measured)
    roads = evaluation.other_roads(found, entrant, home, count) if matrix else None
    if native and as_json != console.STANDARD_OUTPUT:
        console.results().print(evaluation.native_sentence(measured))
    elif as_json != console.STANDARD_OUTPUT:
        _print_evaluation(measured, scores, roads)
    if as_json is not None:
        scored = {"lampilot_compatibility": None if scores is None else scores.to_json()}
        elsewhere = {"generalisation": None if roads is None else roads.to_json()}
        console.write_json(as_json, {**measured.to_json(), **scored, **elsewhere})
    if video is not None:
        from driving.film import film_episode

        console.write_file(video, film_episode(road, seed, entrant.driver))
        console.messages().print(console.shown(f"filmed the episode of seed {seed} to {video}"))
    if render:
        from driving.renderer import show_episode

        show_episode(road, seed, entrant.driver)
    if measured.replay is not None:
        named = f"--driver {driver}" if driver is not None else f"{run} {entrant.name}"
        measured.replay.refuse(named if scenario is None else f"{named} --scenario {scenario}")


def _entrant(
    run: str | None, candidate: str, driver: str | None, sample_seed: int | None
) -> tuple["Run | None", "Entrant", Scenario]:
    """Return the run, who drives, and the road that they know."""
    from orchestrator.evaluation import baseline_entrant, best_of, choose, entrant_of
    from orchestrator.runs import find_run

    if driver is not None:
        if run is not None:
            raise UsageError("evaluate: name a run or a --driver, not both")
        if sample_seed is not None:
            raise UsageError("evaluate: --stochastic is for candidates; baseline drivers are what they are")
        return None, baseline_entrant(driver), Scenario()
    if run is None:
        raise UsageError("evaluate: expected a run (and a candidate), or --driver NAME")
    found = find_run(run)
    record = found.record()
    named = best_of(record) if candidate == "best" else candidate
    chosen = entrant_of(found.storage, choose(record.archive, named), sample_seed)
    return found, chosen, record.plan.scenario if record.plan is not None else Scenario()


def _print_evaluation(measured: "Evaluation", scores: "LampilotScores | None", roads: "Generalisation | None") -> None:
    from orchestrator import conclusion_tables, evaluation

    out = console.results()
    out.print(console.shown(evaluation.heading(measured)))
    out.print(evaluation.metrics_table(measured))
    if scores is not None:
        out.print(conclusion_tables.lampilot_sentence(scores))
    if measured.replay is not None:
        out.print(console.shown(measured.replay.sentence()))
    if roads is not None:
        out.print()
        conclusion_tables.say_matrix(out, roads)
        out.print(console.shown(roads.sentence()))


def report(
    run: options.Run,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the report.", show_default="report/ in the run's folder"),
    ] = None,
    no_videos: Annotated[bool, options.switch("--no-videos", "Leave films out, which take seconds each.")] = False,
) -> None:
    """Write what came of a run for others to read: one HTML file, and Markdown with pictures and films."""
    from orchestrator.report.write import write_report
    from orchestrator.runs import find_run

    written = write_report(find_run(run), out, videos=not no_videos)
    console.results().print(console.shown(written))


def ui(
    run: options.Run,
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=1, max=65535, help="Port on 127.0.0.1.", show_default="5000 or a free one"
        ),
    ] = None,
) -> None:
    """Serve MLflow on loopback and print the link to the run's charts, grouped by generation."""
    from orchestrator import ui as server
    from orchestrator.follower import Follower
    from orchestrator.runs import find_run
    from orchestrator.tracking import Store, chart_link

    found = find_run(run)
    say = console.messages().print
    if not found.is_being_written():
        follower = Follower(found.storage, found.root, lambda sentence: say(console.shown(sentence)))
        follower.start()
        follower.close(patience_s=_CATCH_UP_S)
    store = Store(found.root)
    plan = found.record().plan
    search_id = plan.search_id if plan is not None else found.name
    out = console.results()
    if server.is_server(store.uri):
        out.print(console.shown(f"MLflow runs already: {chart_link(store.uri, store.experiment, search_id)}"))
        return
    chosen = server.free_port(port)
    with server.server(store.uri, chosen) as child:
        out.print(console.shown(chart_link(f"http://127.0.0.1:{chosen}", store.experiment, search_id)))
        out.print(
            f"MLflow serves {store.uri}; Ctrl-C ends it. "
            f"From another machine: ssh -L {chosen}:127.0.0.1:{chosen} THIS_MACHINE"
        )
        with contextlib.suppress(KeyboardInterrupt):
            child.wait()
