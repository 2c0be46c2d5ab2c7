"""From an environment's folder to a Gymnasium id whose vector constructor is gated.

`import simulacrum` registers every package that is installed, as soon as Gymnasium is imported as well;
`register_envs(path)` adds those of any folder. What is registered is text and numbers only, so a spec
survives JSON and another process. No argument turns the gate off.
"""

from __future__ import annotations

import difflib
import inspect
import json
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulacrum.contract.package import BrokenPackage, EnvPackage, find_packages, load_package, packages_at
from simulacrum.errors import UsageError

if TYPE_CHECKING:
    import torch

    from simulacrum.attest.certificate import Certified
    from simulacrum.engine.single import SimulacrumEnv
    from simulacrum.engine.vector import SimulacrumVectorEnv

SINGLE = "simulacrum.registry:make_single"
VECTOR = "simulacrum.registry:make_vector"


def register_envs(path: str | Path | None = None) -> list[str]:
    """Register the installed packages, or those at `path`, with Gymnasium; returns their ids.

    A path is a package's folder or a folder of such folders. Registering again is quiet, and a path takes an
    id over from a package found before. A broken installed package never stops the others: its id is
    registered too, and making it raises what is wrong; `simulacrum list` shows it.

    Raises:
        PackageError, SchemaError: (with a `path` only) there is no package there, or it is broken.
    """
    ids: list[str] = []
    for package in find_packages() if path is None else packages_at(path):
        if isinstance(package, BrokenPackage):
            if path is not None:
                raise package.error
            if package.folder is not None:
                _register(f"simulacrum/{package.folder.name}-v0", str(package.folder), None, replace=False)
            continue
        by_name = not package.origin.startswith("path")
        source = package.env_id if by_name else str(package.folder)
        _register(package.env_id, source, _declared_limit(package), replace=path is not None)
        ids.append(package.env_id)
    return ids


def make_single(
    package: EnvPackage | str | Path, render_mode: str | None = None, **kwargs: Any
) -> SimulacrumEnv:
    """The reference twin as a `gymnasium.Env`: what `gymnasium.make` calls. It needs no gate, it is the
        reference.

    Raises:
        UsageError: a keyword that `SimulacrumEnv` does not have; the nearest one is named.
        UnknownEnvError, ContractError: there is no such package, or it is broken.
    """
    from simulacrum.engine.single import SimulacrumEnv

    _check_keywords(SimulacrumEnv, kwargs)
    return SimulacrumEnv(_package(package), render_mode=render_mode, **kwargs)


def make_vector(package: EnvPackage | str | Path, num_envs: int = 1, **kwargs: Any) -> SimulacrumVectorEnv:
    """The batched twin, behind the gate: what `gymnasium.make_vec` calls. Keywords as of
        `SimulacrumVectorEnv`.

    The gate is asked about what will be built: where a compiled form falls back to eager for want of a
    compiler, the eager form must be validated.

    Raises:
        GateError: no passing, full, fresh report for this configuration; names the cause and the mending
            command.
        UsageError: a keyword that `SimulacrumVectorEnv` does not have; the nearest one is named.
        DeviceError: the device is not there.
        UnknownEnvError, ContractError: there is no such package, or it is broken.
    """
    from simulacrum.attest.gate import certified_binary, require_fresh_report, wanted_configuration
    from simulacrum.engine.forms import resolve_form
    from simulacrum.engine.modes import check_device
    from simulacrum.engine.vector import SimulacrumVectorEnv

    _check_keywords(SimulacrumVectorEnv, kwargs)
    found = _package(package)
    device = check_device(kwargs.get("device", "cpu"))
    asked = kwargs.pop("compile", None)
    if asked is None:
        form = _fastest_validated(found, device, kwargs.get("params"))
    else:
        form = resolve_form(asked, device, warn=False)
    wanted = wanted_configuration(device=device, compile=form, params=kwargs.get("params"))
    state = require_fresh_report(found, configuration=wanted)
    binary = certified_binary(state, wanted)
    if binary is not None:
        _use(found, binary)
    env = SimulacrumVectorEnv(found, num_envs, compile=form if asked is None else asked, **kwargs)
    env.factory = make_vector  # a copy of it, in this process or another, comes through the gate as well
    return env


def _fastest_validated(package: EnvPackage, device: torch.device, params: Any) -> str:
    """The form that is built when none is named: the native one on the CPU, or what was validated in its place.

    A package whose native form could not be built says so once. Where the gate is closed for a form that was
    validated, or for all, that form is returned, so that the gate says what is missing and which command mends it.
    """
    from simulacrum.attest.gate import gate_state, wanted_configuration
    from simulacrum.engine.forms import CompilerWarning

    forms = ("native", "inductor", "eager") if device.type == "cpu" else ("inductor", "eager")
    for form in forms:
        state = gate_state(package, wanted_configuration(device=device, compile=form, params=params))
        known = () if state.report is None else state.report.configurations
        if not state.fresh:
            if any(one.compile == form and one.outcome == "passed" for one in known):
                return form  # validated once, and its file is damaged, say: slower without a word would be no answer
            continue
        reasons = [str(one.details["reason"]) for one in known if one.compile == "native" and "reason" in one.details]
        if form != "native" and reasons:
            warnings.warn(
                f"{package.env_id} has no native form, so the {form} form is used, with the same bits, slower: "
                f"{reasons[0]}. Mend it and validate again, or pass compile={form!r}.",
                CompilerWarning,
                stacklevel=4,
            )
        return form
    return forms[0]


def _use(package: EnvPackage, binary: Certified) -> None:
    """Load the validated library for every env of the package in this process, if it is not the one in use."""
    from simulacrum.engine.boundary import core_of
    from simulacrum.engine.native import load

    core = core_of(package, package.schema.max_episode_steps)
    if getattr(core.kept.get("native"), "sha256", None) != binary.sha256:
        core.use_native(load(binary.path, binary.sha256))


def _package(package: EnvPackage | str | Path) -> EnvPackage:
    return package if isinstance(package, EnvPackage) else load_package(package)


def _register(env_id: str, source: str, limit: int | None, *, replace: bool) -> None:
    # Not above: importing Gymnasium calls `register_envs`, which must be there by then.
    import gymnasium

    known = gymnasium.registry.get(env_id)
    kwargs = {"package": source}
    if known is not None:
        ours = known.vector_entry_point == VECTOR
        same = ours and known.kwargs == kwargs and known.max_episode_steps == limit
        if same or not replace:
            return
        del gymnasium.registry[env_id]  # or Gymnasium warns of what was asked for on purpose
    gymnasium.register(  # pyright: ignore[reportUnknownMemberType]  # Gymnasium leaves its `dict` bare
        env_id, entry_point=SINGLE, vector_entry_point=VECTOR, max_episode_steps=limit, kwargs=kwargs
    )


def _declared_limit(package: EnvPackage) -> int | None:
    """The schema's time limit, read without checking the rest: an import registers ids, it judges nobody."""
    try:
        raw: Mapping[str, Any] = json.loads((package.folder / "schema.json").read_bytes())
    except (OSError, ValueError):
        return None
    limit = raw.get("x-max-episode-steps")
    return limit if isinstance(limit, int) and limit > 0 else None


def _check_keywords(kind: type[Any], given: Iterable[str]) -> None:
    known = [name for name in inspect.signature(kind.__init__).parameters if name not in ("self", "package")]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise UsageError(
                f"{kind.__name__} takes no keyword {name!r}",
                expected=f"one of {', '.join(known)}",
                found=name,
                next_step=f"did you mean {near[0]!r}?" if near else "leave it out",
            )
