"""Forms of the batched twins, through the public `SimulacrumVectorEnv`. A new form in the engine comes in by itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

import simulacrum
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.forms import FORMS, resolve_form
from simulacrum.engine.vector import SimulacrumVectorEnv
from suite.contender import Contender, Unavailable, action_batches, timed

# What a form's compiler takes for granted; a form that is not listed here is measured all the same.
SETTINGS = {
    "eager": "torch operations one by one, one thread",
    "inductor": "torch.compile, one graph, one thread",
    "native": "one C loop, one thread",
}
VERSION = f"simulacrum {simulacrum.__version__}, torch {torch.__version__}"


def forms() -> list[str]:
    """The names of all forms that the engine knows, in its order."""
    return list(FORMS)


def make(package: EnvPackage | str, form: str, num_envs: int) -> SimulacrumVectorEnv:
    """A vector env in exactly this form, reset with seed 0. `Unavailable` where the engine would fall back."""
    package = load_package(package) if isinstance(package, str) else package
    resolved = resolve_form(form, torch.device("cpu"), warn=False)
    if resolved != form:
        raise Unavailable(f"form {form} cannot be built here: the engine would use {resolved}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a fallback warns
        try:
            env = SimulacrumVectorEnv(package, num_envs, compile=form)
        except (Warning, simulacrum.errors.SimulacrumError) as error:
            raise Unavailable(f"form {form} of {package.name}: {error}") from error
    if env.form != form:
        raise Unavailable(f"form {form} of {package.name} was built as {env.form}")
    env.reset(seed=0)
    return env


def contender(form: str) -> Callable[[Any, int], Contender]:
    """How to build the contender of one form: (package or name, num_envs) -> Contender."""

    def build(package: EnvPackage | str, num_envs: int) -> Contender:
        env = make(package, form, num_envs)
        run = timed(env.step, action_batches(choices(env), num_envs))
        return Contender(form, "form", VERSION, SETTINGS.get(form, ""), num_envs, run, env.close)

    return build


def choices(env: SimulacrumVectorEnv) -> int:
    """How many actions a Discrete action space has. `Unavailable` for another space."""
    count = getattr(env.single_action_space, "n", None)
    if count is None:
        raise Unavailable(f"{env.package.name} has no Discrete actions")
    return int(count)
