"""Wrappers for vector environments that give torch tensors, where Gymnasium's own expect NumPy arrays.

Most carry Gymnasium's names and formulas; `DomainRandomization` and `Curriculum` have no counterpart there. All work in
all three autoreset modes, treat partial resets by row, and save and restore their state with `state_dict`. With
`output="numpy"` use Gymnasium's own.
"""

from __future__ import annotations

from simulacrum.wrappers.base import TorchVectorWrapper
from simulacrum.wrappers.curriculum import Curriculum
from simulacrum.wrappers.frame_stack import FrameStackObservation
from simulacrum.wrappers.normalize import NormalizeObservation, NormalizeReward, RunningMeanStd
from simulacrum.wrappers.randomization import Choice, DomainRandomization, Uniform
from simulacrum.wrappers.reward import ClipReward
from simulacrum.wrappers.statistics import RecordEpisodeStatistics

__all__ = [
    "Choice",
    "ClipReward",
    "Curriculum",
    "DomainRandomization",
    "FrameStackObservation",
    "NormalizeObservation",
    "NormalizeReward",
    "RecordEpisodeStatistics",
    "RunningMeanStd",
    "TorchVectorWrapper",
    "Uniform",
]
