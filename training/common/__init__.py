"""What the training scripts share: arguments of a run, its folder and checkpoints, measuring, tables and pictures.

An algorithm is never here. Each script in training/ says its own from top to bottom; what would be the same lines in a
third script is one function here.
"""

from common.arguments import EnvArgs, EvalArgs, RunArgs, plain
from common.curve import draw_curve
from common.measure import measure, scripted_policies, summary, table
from common.replay import Replay
from common.run import Run, gate, new_folder, write_results
from common.spaces import Vector, action_bounds, action_count, batch_of_one, observation_size

__all__ = [
    "EnvArgs",
    "EvalArgs",
    "Replay",
    "Run",
    "RunArgs",
    "Vector",
    "action_bounds",
    "action_count",
    "batch_of_one",
    "draw_curve",
    "gate",
    "measure",
    "new_folder",
    "observation_size",
    "plain",
    "scripted_policies",
    "summary",
    "table",
    "write_results",
]
