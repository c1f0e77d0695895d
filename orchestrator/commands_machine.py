"""The command about the machine: `doctor`."""

import os

import typer

from orchestrator import console, options


def doctor(
    local: options.Local = False,
    address: options.Address = None,
    llm: options.Llm = None,
    keys: options.Keys = None,
    allow_http: options.AllowHttp = False,
    out: options.Out = None,
) -> None:
    """Try everything that a search needs, before anything is paid: packages, disk, film, MLflow, Ray, model and key."""
    from actors.keys import take_credentials
    from actors.plan import LLMSettings
    from orchestrator.doctor import examine
    from orchestrator.place import find_place
    from orchestrator.runs import root_of

    place = find_place(local, address, os.environ)
    spec = options.spec_of(llm, keys, os.environ)
    credentials = take_credentials(spec, os.environ, keys)
    settings = LLMSettings(spec=spec, allow_http=allow_http, max_tokens=512, patience_s=60.0)
    out_console = console.results()
    styles = {"ok": "green", "warning": "yellow", "failed": "red"}
    failed = False
    for check in examine(root_of(out), place.address, settings, credentials):
        failed |= check.verdict == "failed"
        out_console.print(
            console.shown(f"{check.verdict:<8}{check.name:<9}{check.sentence}", style=styles[check.verdict])
        )
    raise typer.Exit(1 if failed else 0)
