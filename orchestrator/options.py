"""Options of the command line, each spelt once."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from actors.plan import FinalsSettings, SearchPlan


def _default(name: str) -> str:
    return next(str(field.default) for field in fields(SearchPlan) if field.name == name)


def switch(name: str, text: str, panel: str | None = None) -> Any:
    """Return an option without a value."""
    return typer.Option(name, metavar=" ", help=text, rich_help_panel=panel)


_WHAT = "What is searched"
_WHERE = "Where it runs"
_LLM = "Who writes programs"

Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings as YAML or JSON.", rich_help_panel=_WHAT)
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="A.B=C", help="One setting, such as scenario.lanes=4; again for more.", rich_help_panel=_WHAT
    ),
]
Goal = Annotated[
    str | None,
    typer.Option("--goal", metavar="TEXT", help="What good driving is, in your words.", rich_help_panel=_WHAT),
]
Population = Annotated[
    int | None,
    typer.Option(
        "--population",
        metavar="N",
        help="Candidates trained in a generation.",
        show_default=_default("population"),
        rich_help_panel=_WHAT,
    ),
]
Generations = Annotated[
    int | None,
    typer.Option(
        "--generations", metavar="N", help="Generations.", show_default=_default("generations"), rich_help_panel=_WHAT
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        "--steps",
        metavar="N",
        help="Environment steps that a candidate is trained for.",
        show_default=_default("steps"),
        rich_help_panel=_WHAT,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", help="Seed of all randomness.", show_default=_default("seed"), rich_help_panel=_WHAT
    ),
]
Archive = Annotated[
    Path | None,
    typer.Option(
        "--archive",
        metavar="BUNDLE",
        help="Start from the programs of another search: its bundle, or a folder that `import` made.",
        rich_help_panel=_WHAT,
    ),
]
EarlyStop = Annotated[bool, switch("--early-stop", "Stop a candidate that is in the worse half at a rung.", _WHAT)]
Strategy = Annotated[
    str | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="evolve; or a control at the same budget: best-of-n (no feedback), eureka (from the best alone), random.",
        show_default=_default("strategy"),
        rich_help_panel=_WHAT,
    ),
]
Finals = Annotated[
    int | None,
    typer.Option(
        "--finals",
        metavar="N",
        min=0,
        help="Best candidates that are trained again to find the champion; 0: no finals.",
        show_default=str(FinalsSettings().finalists),
        rich_help_panel=_WHAT,
    ),
]
StartFrom = Annotated[
    list[Path] | None,
    typer.Option(
        "--start-from", metavar="FILE", help="A program of yours to start from; again for more.", rich_help_panel=_WHAT
    ),
]
Llm = Annotated[
    str | None,
    typer.Option(
        "--llm",
        metavar="SPEC",
        help="groq:MODEL,..., openai:URL#MODEL, replay:FOLDER, or none to evolve programs without an LLM.",
        show_default="groq with a key, else none",
        rich_help_panel=_LLM,
    ),
]
Keys = Annotated[
    Path | None,
    typer.Option(
        "--keys",
        metavar="FILE",
        help="API keys, one a line or a JSON list; mode 0600. Instead of GROQ_API_KEY or OPENAI_API_KEY.",
        rich_help_panel=_LLM,
    ),
]
AllowHttp = Annotated[bool, switch("--allow-http", "Allow plain http beyond this machine.", _LLM)]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="DIR", help="The run's folder, or s3://...", show_default="runs/NAME", rich_help_panel=_WHERE
    ),
]
Resume = Annotated[
    str | None,
    typer.Option("--resume", metavar="DIR", help="Go on with the run in this folder.", rich_help_panel=_WHERE),
]
Local = Annotated[bool, switch("--local", "Use this machine alone, whatever cluster there is.", _WHERE)]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="ADDR", help="Join the Ray cluster at this address.", rich_help_panel=_WHERE),
]
Cluster = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        help="Run this command on the head of the cluster that `ray up FILE` started, with MLflow's port forwarded.",
        rich_help_panel=_WHERE,
    ),
]
GpusPerTrial = Annotated[
    float | None,
    typer.Option(
        "--gpus-per-trial",
        metavar="X",
        help="Share of a GPU that each trial gets.",
        show_default="0",
        rich_help_panel=_WHERE,
    ),
]
Debug = Annotated[
    bool,
    switch("--debug", "One process, tiny budget, full tracebacks; breakpoints work. Implies --local.", _WHERE),
]
TakeOver = Annotated[
    bool, switch("--take-over", "Resume a run whose writer is gone without a word (object stores).", _WHERE)
]

Run = Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, or its name in runs/.")]
Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs: folders, or their names in runs/.")]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - is standard output.")
]


def spec_of(asked: str | None, keys: Path | None, environ: Mapping[str, str]) -> str | None:
    """Return the LLM spec that `--llm` means.

    Args:
        asked: What was given; None: Groq when there is a key for it.
        keys: A file of keys.
        environ: The environment.

    Returns:
        The spec; None for no LLM.
    """
    if asked == "none":
        return None
    if asked is None and (keys is not None or environ.get("GROQ_API_KEY")):
        return "groq"
    return asked
