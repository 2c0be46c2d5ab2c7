"""Scripted policies of cartpole, one for each way that an episode ends: pole, track and clock.

The means were measured on the reference's bits, on the first episodes of the rows seeded from 1,000,000 on.
"""

from __future__ import annotations

from typing import Any

from simulacrum.twin.probe import Probe

LEFT, RIGHT = 0, 1


def always_right(observation: Any, state: Any, t: int) -> int:
    return RIGHT


def lean(observation: Any, state: Any, t: int) -> int:
    """Push to where the pole leans, however fast it turns: it swings wider and wider."""
    return RIGHT if state.theta > 0.0 else LEFT


def run(observation: Any, state: Any, t: int) -> int:
    """Let the pole lean a little towards the nearer end of the track, and so run off that end."""
    lean = 0.05 if state.x > 0.0 else -0.05
    return RIGHT if 3.0 * (state.theta - lean) + state.theta_dot > 0.0 else LEFT


def balance(observation: Any, state: Any, t: int) -> int:
    """Keep the pole upright and the cart near the middle."""
    lead = 0.1 * state.x + 0.2 * state.x_dot + 3.0 * state.theta + state.theta_dot
    return RIGHT if lead > 0.0 else LEFT


PROBES = [
    Probe(
        name="always_right",
        act=always_right,
        low=9.17,
        high=9.55,
        episodes=400,
        why="measured 9.359 over 40,000 other episodes (standard deviation 0.752), "
        "plus and minus 5 standard errors of 400 episodes",
    ),
    Probe(
        name="lean",
        act=lean,
        low=39.00,
        high=45.26,
        episodes=200,
        why="measured 42.133 over 40,000 other episodes (standard deviation 8.840), "
        "plus and minus 5 standard errors of 200 episodes",
    ),
    Probe(
        name="run",
        act=run,
        low=165.03,
        high=193.76,
        episodes=40,
        why="measured 179.393 over 40,000 other episodes (standard deviation 18.167), "
        "plus and minus 5 standard errors of 40 episodes",
    ),
    Probe(
        name="balance",
        act=balance,
        low=500.0,
        high=500.0,
        episodes=16,
        why="each of 40,000 other episodes ran into the time limit",
    ),
]
