"""Whether a mutant is a fault at all: the same graph of operations as the original is the same function.

All methods of a twin are run once at each of several numbers of rows while their operations are noted, which takes a
fraction of a second and tells almost all mutants from the original. Where nothing differs, the methods are captured
once more as the compiled forms are, for one row and for any number of rows, so that nothing hides behind a batch size.
Only where those graphs are the same too is a mutant called equivalent. The idea is that of trivial compiler equivalence
(Papadakis, Jia, Harman, Le Traon, ICSE 2015).

A graph is compared after it was brought into one form: what nothing uses is left out, equal operations on equal
arguments count once, and the order of independent operations plays no part.
"""

from __future__ import annotations

import functools
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree

from simulacrum.contract import loader
from simulacrum.contract.package import EnvPackage
from simulacrum.engine.actions import to_tensors
from simulacrum.engine.capture import capture
from simulacrum.engine.draws import NO_DRAW, draw_layout
from simulacrum.engine.params import batch_params
from simulacrum.harness import drivers
from simulacrum.mutate.judge import Settings, planted, unfit
from simulacrum.mutate.mutant import Mutant
from simulacrum.mutate.recorded import LIKE, operation_words, recorded, sha, shaped, tensor_words
from simulacrum.rng.batched import BatchedDraw, blocks_as_one_operator, episode_key, split_seed
from simulacrum.twin.batched import BatchedEnv, Context
from simulacrum.twin.invariant import invariants_of

ROWS = (1, 3, 33)
# What a graph made on this machine's CPU does not show: where one of these words is new, nothing is claimed.
HIDDEN = re.compile(
    r"\b(device|is_cuda|is_compiling|get_num_threads|environ|time|random|rand|randn|randint|global|nonlocal|setattr|"
    r"hasattr|is_grad_enabled|requires_grad|detach|data_ptr|stride|contiguous|is_contiguous|_version|id)\b"
)


@dataclass(frozen=True)
class Trace:
    """A mutant's graph as a hash; "" where there is none (the twin looks at values, say).

    unfit: why it is no twin at all, and then all there is.
    """

    unfit: str = ""
    graph: str = ""


def traced(settings: Settings, mutant: Mutant) -> Trace:
    """What a package with this mutant in it does, noted at several numbers of rows."""
    return _with(settings, mutant, trace_of)


def captured(settings: Settings, mutant: Mutant) -> Trace:
    """The graphs of a package with this mutant in it, for one row and for any number of rows."""
    return _with(settings, mutant, capture_of)


def _with(settings: Settings, mutant: Mutant, look: Callable[[EnvPackage], Trace]) -> Trace:
    place = settings.scratch / f"trace-{mutant.id}"
    package = planted(settings.package, mutant, place)
    try:
        found = unfit(package)
        if found is not None:
            return Trace(unfit=found)
        if mutant.file != "fast.py" or set(HIDDEN.findall(mutant.source)) - set(HIDDEN.findall(mutant.original)):
            return Trace()
        return look(package)
    finally:
        loader.forget(package.import_name)
        shutil.rmtree(place, ignore_errors=True)


def trace_of(package: EnvPackage) -> Trace:
    """The operations of a package's batched twin; none where it keeps something between calls or looks at values."""
    return _looked(package, lambda env: [recorded(_methods(env), _arguments(env, rows)) for rows in ROWS])


def capture_of(package: EnvPackage) -> Trace:
    """The graphs of a package's batched twin; none where it cannot be captured."""
    return _looked(package, lambda env: [_captured(env, rows) for rows in (1, 3)])


def _looked(package: EnvPackage, hashes: Callable[[BatchedEnv], list[str]]) -> Trace:
    try:
        env = package.fast()
        before = _kept(env)
        with blocks_as_one_operator():
            found = hashes(env)
    except Exception:  # what cannot be traced is not called equivalent; the battery will say what is wrong with it
        return Trace()
    return Trace(graph=sha("\n".join(found))) if _kept(env) == before else Trace()


def _methods(env: BatchedEnv) -> Callable[..., Any]:
    """All that an author writes, as one function of tensors."""
    schema, layout = env.schema, draw_layout(env.schema)

    def run(seed: Any, episode: Any, state: Any, action: Any, t: Any, params: Any) -> Any:
        key = episode_key(seed, episode)
        start = torch.zeros_like(t)
        started = env.reset(Context(BatchedDraw(layout, "reset", key, start), start, params))
        stepped = env.step(state, action, Context(BatchedDraw(layout, "step", key, t), t, params))
        ctx = Context(NO_DRAW, t, params)
        shown = [env.observe(state, ctx), env.info(state, ctx)]
        if schema.action_mask is not None:
            shown.append(env.action_mask(state, ctx))
        held = [getattr(env, one.method)(state, ctx) for one in invariants_of(env)]
        ends = [_flag(flag, t) for flag in (stepped.terminated, stepped.truncated)]
        return started, stepped.state, stepped.reward, ends, shown, held

    return run


def _flag(value: Any, like: torch.Tensor) -> torch.Tensor:
    """An end flag for all rows, where it is one Python bool."""
    return value if isinstance(value, torch.Tensor) else torch.full_like(like, bool(value), dtype=torch.bool)


def _arguments(env: BatchedEnv, rows: int) -> tuple[Any, ...]:
    schema, device = env.schema, torch.device("cpu")
    seed, episode = split_seed(range(1, rows + 1)), torch.zeros(rows, dtype=torch.int32)
    params = batch_params(schema, None, rows, device)
    key, t = episode_key(seed, episode), torch.zeros_like(episode)
    state = env.reset(Context(BatchedDraw(draw_layout(schema), "reset", key, t), t, params))
    action = to_tensors(schema.action, drivers.standard(schema, rows, 0).actions({}, 0), rows, device)
    # A state may hold one tensor twice, or a constant that was spread out; inputs are apart and whole.
    state = pytree.tree_map(lambda one: one.clone(memory_format=torch.contiguous_format), state)
    return seed, episode, state, action, t, params


def _kept(env: BatchedEnv) -> list[str]:
    """What the twin and its module hold: names with the identity of what stands under them."""
    places = (vars(env), vars(type(env)), vars(sys.modules[type(env).__module__]))
    return [f"{name}={id(place[name])}" for place in places for name in sorted(place)]


def _captured(env: BatchedEnv, rows: int) -> str:
    graph = capture(_methods(env), _arguments(env, rows))
    program = graph.program
    held = {**program.state_dict, **program.constants}
    constants = {
        spec.arg.name: _constant(held[spec.target])
        for spec in program.graph_signature.input_specs
        if spec.target in held
    }
    return f"{graph.given} {fingerprint(program.graph, constants)}"


def fingerprint(graph: Graph, constants: dict[str, str]) -> str:
    """The hash of what an exported graph computes. `constants`: name of a node that stands for a constant -> words.

    A graph that writes into a tensor is taken as it stands, operation by operation: its order matters.
    """
    known: dict[Node, str] = {}
    written: list[str] = []
    inputs = 0
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            words = constants.get(node.name) or f"input {inputs}"
            inputs += node.name not in constants
        else:
            like = str(node.target).split(".")[1:2] in ([name] for name in LIKE)
            args = pytree.tree_map(_form if like else functools.partial(_word, known), node.args)
            kwargs = pytree.tree_map(functools.partial(_word, known), node.kwargs)
            words = operation_words(f"{node.op} {node.target}", args, kwargs)
            schema = getattr(node.target, "_schema", None)
            if written or (schema is not None and schema.is_mutable):
                words = f"{len(written)} {words}"
                written.append(words)
        known[node] = sha(words)
        if node.op == "output":
            return sha("\n".join([known[node], *written]))
    raise AssertionError("a graph ends with its output")


def _word(known: dict[Node, str], value: Any) -> str:
    return known[value] if isinstance(value, Node) else f"{type(value).__name__}:{value!r}"


def _form(value: Any) -> str:
    return shaped(value.meta["val"] if isinstance(value, Node) else value)


def _constant(value: Any) -> str:
    return tensor_words(value) if isinstance(value, torch.Tensor) else f"constant {value!r}"
