"""What happened, on paper: trajectories, packs of them, and the first divergence between the twins. No
torch."""

from __future__ import annotations

from simulacrum.trace.columns import read_npz, write_npz
from simulacrum.trace.compare import first_difference, until
from simulacrum.trace.divergence import (
    Configuration,
    Counts,
    Difference,
    Divergence,
    DrawPair,
    RuleText,
    Shown,
    difference,
    dump_divergence,
    pair_draws,
    read_divergence,
    shown,
    ulp_between,
)
from simulacrum.trace.failures import FailureFiles, trajectory_file, write_failure
from simulacrum.trace.files import read_trajectories, write_trajectory
from simulacrum.trace.indented import read_json, write_json
from simulacrum.trace.lines import TrajectoryWriter, iterate_jsonl, read_jsonl, write_jsonl
from simulacrum.trace.pack import Pack, export_pack, read_pack, verify_pack
from simulacrum.trace.pick import PICKERS, EpisodeRow, cut_out, pick, summarise
from simulacrum.trace.playback import Frame, frames, images, play, texts, write_gif, write_png
from simulacrum.trace.records import checked, digest
from simulacrum.trace.show import render_plain, render_rich
from simulacrum.trace.trajectory import Start, Step, Trajectory, schema_digest, words_by_slot
from simulacrum.trace.values import read_group, spell_group

__all__ = [
    "PICKERS",
    "Configuration",
    "Counts",
    "Difference",
    "Divergence",
    "DrawPair",
    "EpisodeRow",
    "FailureFiles",
    "Frame",
    "Pack",
    "RuleText",
    "Shown",
    "Start",
    "Step",
    "Trajectory",
    "TrajectoryWriter",
    "checked",
    "cut_out",
    "difference",
    "digest",
    "dump_divergence",
    "export_pack",
    "first_difference",
    "frames",
    "images",
    "iterate_jsonl",
    "pair_draws",
    "pick",
    "play",
    "read_divergence",
    "read_group",
    "read_json",
    "read_jsonl",
    "read_npz",
    "read_pack",
    "read_trajectories",
    "render_plain",
    "render_rich",
    "schema_digest",
    "shown",
    "spell_group",
    "summarise",
    "texts",
    "trajectory_file",
    "ulp_between",
    "until",
    "verify_pack",
    "words_by_slot",
    "write_failure",
    "write_gif",
    "write_json",
    "write_jsonl",
    "write_npz",
    "write_png",
    "write_trajectory",
]
