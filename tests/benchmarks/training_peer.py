"""Trains with one library in this process, window by window: training.py starts it and tells it when.

    python training_peer.py NAME SETTINGS     with NAME a function below, SETTINGS a JSON object

Each line on the standard input is a number of iterations to train. It answers with JSON lines: first {"version",
"ready": CPU-seconds until then, compilation included}, then for each window {"steps", "wall", "cpu", "parts"}.
All train two networks of two layers of 64 with tanh, one for the policy and one for the value, on CartPole.
Only the peer that is asked for is imported: each may live in a virtual environment of its own.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import time
import types
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENV_ID = "simulacrum/cartpole-v1"


class Channel:
    """Windows asked for and answered. What a trainer prints must not get among the answers."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def say(self, **answer):
        self.out.write(json.dumps(answer) + "\n")
        self.out.flush()

    def windows(self, version, steps, parts=None):
        """Yields how many iterations of `steps` steps are to be trained before the next is asked for."""
        self.say(version=version, ready=time.process_time())
        for line in sys.stdin:
            if parts is not None:
                parts.update(dict.fromkeys(parts, 0.0))
            wall, cpu = time.perf_counter(), time.process_time()
            yield int(line)
            spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            self.say(steps=int(line) * steps, **spent, parts=parts or {})


def ours(channel, settings):
    """training/ppo.py as it is; its loop waits between windows."""
    sys.path.insert(0, str(ROOT / "training"))
    import torch

    import ppo
    from simulacrum.engine.vector import SimulacrumVectorEnv

    parts = {"environment": 0.0, "inference": 0.0, "learning": 0.0}

    def timed(function, part):
        def call(*args):
            began = time.process_time()
            got = function(*args)
            parts[part] += time.process_time() - began
            return got

        return call

    class Run(ppo.Run):
        def iterations(self, total, steps):
            left = super().iterations(total, steps)
            for count in channel.windows(f"torch {torch.__version__}", steps, parts):
                for _ in range(count):
                    yield next(left)
            sys.exit(0)

    class Learner(ppo.Learner):
        def compile(self, *args):
            took = super().compile(*args)
            self.act, self.learn = timed(self.act, "inference"), timed(self.learn, "learning")
            return took

    SimulacrumVectorEnv.step = timed(SimulacrumVectorEnv.step, "environment")
    ppo.Run, ppo.Learner = Run, Learner
    with tempfile.TemporaryDirectory() as runs:
        ppo.main(
            ppo.Args(
                env_id=ENV_ID,
                runs=Path(runs),
                num_envs=settings["rows"],
                num_steps=settings["steps"],
                minibatch=settings["rows"] * settings["steps"] // settings["minibatches"],
                epochs=settings["epochs"],
                width=settings.get("width", 64),
                activation="tanh",
                separate=True,
                clip_value=True,
                learning_rate=2.5e-4,
                total_steps=10**9,
            )
        )


def purejaxrl(channel, settings):
    """`purejaxrl/ppo.py` of a clone. Its wrappers ask for an older gymnax; what they do is done here for this one."""
    import jax
    import jax.numpy as jnp

    class Flat:
        def __init__(self, env):
            self.env = env

        def __getattr__(self, name):
            return getattr(self.env, name)

    class Log(Flat):
        """Returns and lengths of episodes, as its training keeps them."""

        def reset(self, key, params):
            observation, state = self.env.reset(key, params)
            return observation, (state, jnp.zeros(()), jnp.zeros(()), jnp.zeros((), int), jnp.zeros((), int), 0)

        def step(self, key, state, action, params):
            state, total, last, length, last_length, t = state
            observation, state, reward, terminated, truncated, _ = self.env.step(key, state, action, params)
            done, total, length = terminated | truncated, total + reward, length + 1
            last, last_length = jnp.where(done, total, last), jnp.where(done, length, last_length)
            info = {
                "returned_episode_returns": last,
                "returned_episode_lengths": last_length,
                "timestep": t + 1,
                "returned_episode": done,
            }
            kept = (state, jnp.where(done, 0.0, total), last, jnp.where(done, 0, length), last_length, t + 1)
            return observation, kept, reward, done, info

    wrappers = types.ModuleType("purejaxrl.wrappers")
    wrappers.LogWrapper, wrappers.FlattenObservationWrapper = Log, Flat
    sys.modules["purejaxrl.wrappers"] = wrappers
    package = types.ModuleType("purejaxrl")
    sys.modules["purejaxrl"] = package
    make_train = runpy.run_path(str(Path(settings["clone"]) / "purejaxrl" / "ppo.py"))["make_train"]
    rows, steps, many = settings["rows"], settings["steps"], settings["window"]
    config = {
        "LR": 2.5e-4,
        "NUM_ENVS": rows,
        "NUM_STEPS": steps,
        "TOTAL_TIMESTEPS": rows * steps * many,
        "UPDATE_EPOCHS": settings["epochs"],
        "NUM_MINIBATCHES": settings["minibatches"],
        "GAMMA": 0.99,
        "GAE_LAMBDA": 0.95,
        "CLIP_EPS": 0.2,
        "ENT_COEF": 0.01,
        "VF_COEF": 0.5,
        "MAX_GRAD_NORM": 0.5,
        "ACTIVATION": "tanh",
        "ENV_NAME": "CartPole-v1",
        "ANNEAL_LR": True,
        "DEBUG": False,
    }
    train = jax.jit(make_train(config))
    jax.block_until_ready(train(jax.random.PRNGKey(0)))
    for number, _ in enumerate(channel.windows(f"jax {jax.__version__}, gymnax {version('gymnax')}", rows * steps)):
        jax.block_until_ready(train(jax.random.PRNGKey(number)))  # `window` iterations, as it was compiled


def cleanrl(channel, settings):
    """`cleanrl/ppo.py` of a clone, as a script."""
    import gymnasium
    import torch

    torch.set_num_threads(1)
    script, batch = str(Path(settings["clone"]) / "cleanrl" / "ppo.py"), settings["rows"] * settings["steps"]

    def train(iterations):
        words = ["--num-envs", settings["rows"], "--num-steps", settings["steps"], "--num-minibatches",
                 settings["minibatches"], "--update-epochs", settings["epochs"]]  # fmt: skip
        sys.argv = [script, "--no-cuda", "--total-timesteps", str(iterations * batch), *map(str, words)]
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)  # it writes into the folder where it is
            runpy.run_path(script, run_name="__main__")
            os.chdir(ROOT)

    train(1)
    for count in channel.windows(f"torch {torch.__version__}, gymnasium {gymnasium.__version__}", batch):
        train(count)


def sb3(channel, settings):
    """Stable-Baselines3's PPO on the reference twin, in its DummyVecEnv; its network is the same by default."""
    import gymnasium as gym
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    import simulacrum  # noqa: F401  # registers the environment

    torch.set_num_threads(1)
    rows, steps = settings["rows"], settings["steps"]
    env = DummyVecEnv([lambda: gym.make(ENV_ID)] * rows)
    model = PPO("MlpPolicy", env, n_steps=steps, batch_size=rows * steps // settings["minibatches"],
                n_epochs=settings["epochs"], device="cpu")  # fmt: skip
    model.learn(1)
    for count in channel.windows(f"stable-baselines3 {version('stable-baselines3')}", rows * steps):
        model.learn(count * rows * steps)


if __name__ == "__main__":
    {"ours": ours, "purejaxrl": purejaxrl, "cleanrl": cleanrl, "sb3": sb3}[sys.argv[1]](
        Channel(), json.loads(sys.argv[2])
    )
