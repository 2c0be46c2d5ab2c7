"""Vector environments that judge_strangers.py holds to the contract, and the maker of one that has no id.

This file runs in virtual environments that have one library only, which is imported where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Stranger:
    """One environment: how it is called in the table, what makes it, and where its library is installed."""

    title: str
    target: str
    library: str
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    mode: str | None = None  # of make_vec
    venv: str | None = None

    @property
    def command(self) -> str:
        """How to judge it again from the command line."""
        import json

        words = ["simulacrum check-vec", self.target]
        if self.mode is not None:
            words.append(f"--vectorization-mode {self.mode}")
        if self.kwargs:
            words.append(f"--kwargs '{json.dumps(self.kwargs)}'")
        return " ".join(words)


GYM, SAME, DISABLED = "gymnasium", {"autoreset_mode": "SameStep"}, {"autoreset_mode": "Disabled"}
OURS = "suite.ungated:conformance/"
STRANGERS = (
    Stranger("toywalk, tensors", f"{OURS}Toywalk-v0", "simulacrum"),
    Stranger("toywalk, arrays", f"{OURS}Toywalk-v0", "simulacrum", {"output": "numpy"}),
    Stranger("toywalk, tensors, same step", f"{OURS}Toywalk-v0", "simulacrum", SAME),
    Stranger("toywalk, arrays, disabled", f"{OURS}Toywalk-v0", "simulacrum", {"output": "numpy", **DISABLED}),
    Stranger("forager, arrays", f"{OURS}Forager-v0", "simulacrum", {"output": "numpy"}),
    Stranger("CartPole, vector", "CartPole-v1", GYM, mode="vector_entry_point"),
    Stranger("CartPole, sync", "CartPole-v1", GYM, mode="sync"),
    Stranger("CartPole, sync, same step", "CartPole-v1", GYM, {"vector_kwargs": SAME}, "sync"),
    Stranger("CartPole, sync, disabled", "CartPole-v1", GYM, {"vector_kwargs": DISABLED}, "sync"),
    Stranger("CartPole, async", "CartPole-v1", GYM, mode="async"),
    Stranger("Blackjack, sync", "Blackjack-v1", GYM, mode="sync"),
    Stranger("FrozenLake, sync", "FrozenLake-v1", GYM, mode="sync"),
    Stranger("Taxi, sync", "Taxi-v4", GYM, mode="sync"),
    Stranger("EnvPool CartPole", "suite.strangers:envpool_cartpole", "envpool", venv="envpool"),
    Stranger(
        "ALE Pong", "ale_py:ALE/Pong-v5", "ale-py", {"max_num_frames_per_episode": 60}, "vector_entry_point", "ale"
    ),
)


def envpool_cartpole(num_envs: int, **kwargs: Any) -> Any:
    """EnvPool's CartPole-v1 with Gymnasium's interface."""
    import envpool

    return envpool.make("CartPole-v1", env_type="gymnasium", num_envs=num_envs, **kwargs)
