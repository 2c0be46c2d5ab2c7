"""Forms of the batched twins, through the public `SimulacrumVectorEnv`. A new form in the engine comes in by itself."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

import simulacrum
from simulacrum.contract.package import EnvPackage, load_package
from simulacrum.engine.forms import NAMES, resolve_form
from simulacrum.engine.vector import SimulacrumVectorEnv
from suite.contender import Contender, Unavailable, batches_of, timed


@dataclass(frozen=True)
class Way:
    """One way to step a batch, as a table shows it: `title`, the form behind it, options of the env, what to call.

    `plain`: the form as everybody gets it, by `step`; growth is measured of those.
    """

    title: str
    form: str
    settings: str = ""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    rollout: bool = False

    @property
    def plain(self) -> bool:
        return self.title == self.form


_SETTINGS = {
    "eager": "torch operations one by one, one thread",
    "inductor": "torch.compile, one graph, one thread",
    "native": "one C loop made of the same graph, one thread",
}
# Every form of the engine comes in by itself; beside them other ways to call one.
WAYS = (
    *(Way(name, name, _SETTINGS.get(name, "")) for name in NAMES),
    Way("native, double buffer", "native", "outputs overwritten every other step", {"double_buffer": True}),
    Way("native, rollout", "native", "many steps of given actions in one call, outputs kept", rollout=True),
)
VERSION = f"simulacrum {simulacrum.__version__}, torch {torch.__version__}"


def forms() -> list[str]:
    """The names of all forms that the engine knows, in its order."""
    return list(NAMES)


def ways(forms: Sequence[str]) -> list[Way]:
    """The ways of these forms."""
    return [way for way in WAYS if way.form in forms]


def make(package: EnvPackage | str, form: str, num_envs: int, **options: Any) -> SimulacrumVectorEnv:
    """A vector env in exactly this form, reset with seed 0. `Unavailable` where the engine would fall back."""
    package = load_package(package) if isinstance(package, str) else package
    resolved = resolve_form(form, torch.device("cpu"), warn=False)
    if resolved != form:
        raise Unavailable(f"form {form} cannot be built here: the engine would use {resolved}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a fallback warns
        try:
            env = SimulacrumVectorEnv(package, num_envs, compile=form, threads=1, **options)
        except (Warning, simulacrum.errors.SimulacrumError) as error:
            raise Unavailable(f"form {form} of {package.name}: {error}") from error
    if env.form != form:
        raise Unavailable(f"form {form} of {package.name} was built as {env.form}")
    env.reset(seed=0)
    return env


def contender(way: Way | str) -> Callable[[Any, int], Contender]:
    """How to build the contender of one way, or of a form as it is: (package or name, num_envs) -> Contender."""
    way = way if isinstance(way, Way) else next(each for each in WAYS if each.title == way)

    def build(package: EnvPackage | str, num_envs: int) -> Contender:
        env = make(package, way.form, num_envs, **way.options)
        steps, batches = 1, batches_of(env.single_action_space, num_envs)
        if way.rollout:
            steps = rollout_steps(num_envs)
            turns = itertools.cycle(batches)
            batches = [torch.stack(list(itertools.islice(turns, steps))) for _ in range(2)]
        run = timed(env.rollout if way.rollout else env.step, batches)
        return Contender(way.title, "form", VERSION, way.settings, steps * num_envs, run, env.close)

    return build


def rollout_steps(num_envs: int) -> int:
    """Steps in one call where many are taken in one, here and by gymnax: enough that the call itself costs nothing."""
    return max(8, min(1000, 2**18 // num_envs))


def choices(env: SimulacrumVectorEnv) -> int:
    """How many actions a Discrete action space has. `Unavailable` for another space."""
    count = getattr(env.single_action_space, "n", None)
    if count is None:
        raise Unavailable(f"{env.package.name} has no Discrete actions")
    return int(count)
