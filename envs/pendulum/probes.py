"""Scripted policies of pendulum: no torque at all, full torque one way, and a controller that brings the rod up.

The means were measured on the reference's bits, on the first episodes of the rows seeded from 1,000,000 on.
"""

from __future__ import annotations

from typing import Any

from simulacrum.portable.scalar import Float32, atan2
from simulacrum.twin.probe import Probe

MOST = 2.0
PUMP = 1.0  # torque for one unit of missing energy times speed
CATCH_ANGLE, CATCH_SPEED = 0.35, 1.5  # from here on the rod is held
ANGLE_GAIN, SPEED_GAIN = 10.0, 2.5


def do_nothing(observation: Any, state: Any, t: int) -> tuple[Float32]:
    return (Float32(0.0),)


def push_on(observation: Any, state: Any, t: int) -> tuple[Float32]:
    """As hard as the motor can, always the same way."""
    return (Float32(MOST),)


def swing_up(observation: Any, state: Any, t: int) -> tuple[Float32]:
    """Pump energy until there is as much as upright needs, then hold; with the default parameters."""
    cosine, sine, speed = (float(value) for value in observation)
    angle = atan2(sine, cosine)
    if abs(angle) < CATCH_ANGLE and abs(speed) < CATCH_SPEED:
        return (_torque(-(ANGLE_GAIN * angle + SPEED_GAIN * speed)),)
    surplus = 0.5 * speed * speed + 15.0 * (cosine - 1.0)
    if abs(speed) < 0.1 and cosine < 0.0:
        return (_torque(-MOST if sine < 0.0 else MOST),)  # at the end of a swing: help the fall that comes
    return (_torque(-PUMP * surplus * speed),)


def _torque(wanted: float) -> Float32:
    return Float32(min(max(wanted, -MOST), MOST))


PROBES = [
    Probe(
        name="do_nothing",
        act=do_nothing,
        low=-1477.9,
        high=-960.6,
        episodes=48,
        why="measured -1219.258 over 40,000 other episodes (standard deviation 358.377), "
        "plus and minus 5 standard errors of 48 episodes",
    ),
    Probe(
        name="push_on",
        act=push_on,
        low=-1599.3,
        high=-1269.8,
        episodes=48,
        why="measured -1434.556 over 40,000 other episodes (standard deviation 228.294), "
        "plus and minus 5 standard errors of 48 episodes",
    ),
    Probe(
        name="swing_up",
        act=swing_up,
        low=-218.0,
        high=-90.3,
        episodes=48,
        why="measured -154.131 over 40,000 other episodes (standard deviation 88.468), "
        "plus and minus 5 standard errors of 48 episodes",
    ),
]
