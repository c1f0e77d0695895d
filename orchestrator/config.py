"""One configuration: defaults, then a file, then `--set`, then options; strict, and saved with the run.

Names, types and defaults are those of `SearchPlan` and what it holds; nothing is spelt twice.
"""

import copy
import difflib
import json
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from actors.endpoints import absolute_spec
from actors.keys import redact
from actors.plan import FinalsSettings, LLMSettings, SearchPlan
from actors.storage import Storage
from orchestrator.machine import Machine
from orchestrator.starts import imported_programs, read_text, starting_program
from search_spaces.errors import RunError, UsageError
from search_spaces.ppo import PPOSettings
from search_spaces.scenarios import Scenario, scenario_named

CONFIG_NAME = "config.json"
"""The resolved configuration in the run's folder."""
_DEBUG_FINALS = FinalsSettings(
    finalists=2, seeds=1, steps=8192, leaders=1, leader_steps=8192, most_seeds=1, confirm=1, ablate=0, replays=0
)
DEBUG_BUDGET: Mapping[str, Any] = MappingProxyType(
    {"population": 2, "generations": 2, "steps": 8192, "held_out": 20, "finals": _DEBUG_FINALS.to_json()}
)
"""Defaults of `--debug`: a search that is over in seconds."""
PRESET = "preset"
"""Key of `scenario` that names what the other keys change."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _mirrored(dataclass: type, leave_out: Sequence[str] = (), **other: Any) -> type[_Strict]:
    """Return a model with the fields, types and defaults of a dataclass."""
    hints = typing.get_type_hints(dataclass)
    mirrored: dict[str, Any] = {
        each.name: (hints[each.name], _default(each)) for each in fields(dataclass) if each.name not in leave_out
    }
    return create_model(dataclass.__name__, __base__=_Strict, **{**mirrored, **other})


def _default(each: Field[Any]) -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return ... if each.default is MISSING else each.default


_PPO = _mirrored(PPOSettings)
_LLM = _mirrored(LLMSettings)
_FINALS = _mirrored(FinalsSettings)
_MODEL = _mirrored(
    SearchPlan,
    leave_out=("search_id", "imported"),
    scenario=(str | dict[str, Any], {}),
    ppo=(_PPO, _PPO()),
    llm=(_LLM, _LLM()),
    finals=(_FINALS, _FINALS()),
    start_from=(tuple[Path, ...], ()),
    archive=(Path | None, None),
    address=(str | None, None),
    gpus_per_trial=(float, 0.0),
    cpus=(int | None, None),
)


class SearchConfig:
    """A checked configuration.

    Args:
        values: Nested settings, as a file holds them; absent ones take their default.

    Raises:
        UsageError: An unknown key (the nearest is named), a value of a wrong type or out of range.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        try:
            self._model = _MODEL.model_validate(dict(values))
        except ValidationError as error:
            raise UsageError(_explained(error)) from None
        self._plan = self._checked_plan()
        self.machine()

    def plan(self, search_id: str) -> SearchPlan:
        """Return the plan of a search of that name.

        Raises:
            UsageError: A name that is no name.
        """
        return SearchPlan.from_json({**self._plan.to_json(), "search_id": search_id})

    def machine(self, address: str | None = None) -> Machine:
        """Return where it runs; at `address` if that is given.

        Raises:
            UsageError: A negative share of a GPU, or fewer CPUs than one.
        """
        model: Any = self._model
        if not 0 <= model.gpus_per_trial < float("inf") or (model.cpus is not None and model.cpus < 1):
            raise UsageError(
                f"expected gpus_per_trial >= 0 and cpus >= 1, found {model.gpus_per_trial:g} and {model.cpus}"
            )
        chosen = address or model.address or "local"
        return Machine(address=chosen, gpus_per_trial=model.gpus_per_trial, cpus=model.cpus)

    @property
    def address(self) -> str | None:
        """Address of the cluster to join; None where the configuration does not say."""
        address: str | None = getattr(self._model, "address", None)
        return address

    def to_json(self) -> dict[str, Any]:
        """Return every setting, defaults included."""
        plan = self._plan
        return {**self._model.model_dump(mode="json"), "scenario": plan.scenario.to_json(), "llm": plan.llm.to_json()}

    def save(self, location: str) -> None:
        """Write the resolved configuration into the run's folder.

        Raises:
            OSError: The storage fails.
        """
        Storage.at(location).write(CONFIG_NAME, f"{json.dumps(self.to_json(), indent=2)}\n".encode())

    def _checked_plan(self) -> SearchPlan:
        model: Any = self._model
        values = {name: getattr(model, name) for name in type(self._model).model_fields}
        for name in ("address", "gpus_per_trial", "cpus", "archive"):
            del values[name]
        return SearchPlan(
            **{
                **values,
                "search_id": "unnamed",
                "scenario": _scenario(model.scenario),
                "ppo": PPOSettings.from_json(model.ppo.model_dump()),
                "llm": _llm(LLMSettings.from_json(model.llm.model_dump())),
                "finals": FinalsSettings.from_json(model.finals.model_dump()),
                "start_from": tuple(starting_program(path) for path in model.start_from),
                "imported": () if model.archive is None else imported_programs(model.archive),
            }
        )


def load_config(
    file: Path | None = None,
    settings: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    *,
    debug: bool = False,
) -> SearchConfig:
    """Return the configuration of a command line.

    Args:
        file: YAML or JSON.
        settings: `a.b=value` each, the value as YAML writes it; later ones win.
        options: Dotted name to value; None stands for an option that was not given. They win over all else.
        debug: Whether the defaults are those of `DEBUG_BUDGET`.

    Raises:
        UsageError: A file that cannot be read, or settings that are refused.
    """
    values: dict[str, Any] = copy.deepcopy(dict(DEBUG_BUDGET)) if debug else {}
    if file is not None:
        _merge(values, _read(file))
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator or not name:
            raise UsageError(f"--set {setting}: expected NAME=VALUE, such as scenario.lanes=4")
        _put(values, name.strip(), _parsed(text, f"--set {setting}"))
    for name, value in (options or {}).items():
        if value is not None:
            _put(values, name, value)
    return SearchConfig(values)


def saved_config(location: str) -> SearchConfig:
    """Return the configuration that a run was started with.

    Raises:
        RunError: The folder holds none.
        UsageError: It is not one of this release.
    """
    content = Storage.at(location).read(CONFIG_NAME)
    if content is None:
        raise RunError(f"{location} holds no {CONFIG_NAME}; expected a run's folder")
    values = json.loads(content)
    # The programs are in the plan; their files may be gone.
    return SearchConfig({**values, "start_from": (), "archive": None})


def _read(file: Path) -> Mapping[str, Any]:
    values = _parsed(read_text(file, f"--config {file}"), f"--config {file}")
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UsageError(f"--config {file}: expected settings by name, found {type(values).__name__}")
    return values


def _parsed(text: str, where: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"{where}: neither YAML nor JSON: {error}") from error


def _merge(values: dict[str, Any], other: Mapping[str, Any]) -> None:
    for name, value in other.items():
        if isinstance(value, Mapping) and isinstance(values.get(name), dict):
            _merge(values[name], value)
        else:
            values[name] = value


def _put(values: dict[str, Any], name: str, value: Any) -> None:
    *folders, last = name.split(".")
    for folder in folders:
        inner = values.get(folder, {})
        if folder == "scenario" and isinstance(inner, str):
            inner = {PRESET: inner}
        if not isinstance(inner, dict):
            raise UsageError(f"{name}: {folder} is {inner!r} and has no settings of its own")
        values[folder] = inner
        values = inner
    values[last] = value


def _llm(settings: LLMSettings) -> LLMSettings:
    """Return the settings with a spec that still holds when the run is resumed from another working directory."""
    return settings if settings.spec is None else replace(settings, spec=absolute_spec(settings.spec))


def _scenario(value: str | Mapping[str, Any]) -> Scenario:
    if isinstance(value, str):
        return scenario_named(value)
    settings = dict(value)
    base = scenario_named(str(settings.pop(PRESET))) if PRESET in settings else Scenario()
    return base.changed(settings)


def _explained(error: ValidationError) -> str:
    sentences = []
    for each in error.errors(include_url=False):
        place = [str(part) for part in each["loc"]]
        name = ".".join(place)
        if each["type"] != "extra_forbidden":
            sentences.append(f"{name}: {each['msg'][:1].lower()}{each['msg'][1:]}, found {redact(repr(each['input']))}")
            continue
        known = list(_nested(place[:-1]).model_fields)
        near = difflib.get_close_matches(place[-1], known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
        sentences.append(f"unknown setting {name!r}: {hint}")
    return "configuration: " + "; ".join(sentences)


def _nested(place: Sequence[str]) -> type[BaseModel]:
    return {"ppo": _PPO, "llm": _LLM, "finals": _FINALS}.get(".".join(place), _MODEL)
