"""Wrappers for vector environments that give torch tensors, where Gymnasium's own expect NumPy arrays.

They carry Gymnasium's names and formulas, work in all three autoreset modes, treat partial resets by row, wait for no
device, and save and restore their statistics with `state_dict`. With `output="numpy"` use Gymnasium's own.
"""

from __future__ import annotations

from simulacrum.wrappers.base import TorchVectorWrapper
from simulacrum.wrappers.frame_stack import FrameStackObservation
from simulacrum.wrappers.normalize import NormalizeObservation, NormalizeReward, RunningMeanStd
from simulacrum.wrappers.reward import ClipReward
from simulacrum.wrappers.statistics import RecordEpisodeStatistics

__all__ = [
    "ClipReward",
    "FrameStackObservation",
    "NormalizeObservation",
    "NormalizeReward",
    "RecordEpisodeStatistics",
    "RunningMeanStd",
    "TorchVectorWrapper",
]
