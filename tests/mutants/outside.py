"""Planted faults of cartpole, whose reference is Gymnasium's own program."""

from __future__ import annotations

from mutants.mutant import planted

FAST, REFERENCE = "fast.py", "reference.py"
RULES = "differential auto_reset replay"

OUTSIDE = (
    planted(
        "K05 the cart moves with its new speed", "cartpole", f"{RULES} scripted_policies",
        (FAST, "x = state.x + TAU * state.x_dot", "x = state.x + TAU * (state.x_dot + TAU * x_acc)"),
    ),
    planted(
        "K12 a sine in float32", "cartpole", RULES,
        (FAST, "sin(state.theta), cos(state.theta)",
         "sin(state.theta.to(torch.float32)).to(torch.float64), cos(state.theta)"),
    ),
    planted(
        "K13 a product with a reciprocal", "cartpole", RULES,
        (FAST, "* sine) / TOTAL_MASS", "* sine) * (1.0 / TOTAL_MASS)"),
    ),
    planted(
        "K17 no end on the left", "cartpole", "auto_reset differential scripted_policies",
        (FAST, "(x < -X_LIMIT) | (x > X_LIMIT)", "(x > X_LIMIT)"),
    ),
    planted(
        "the other program keeps the last row's state", "cartpole", "spec_contract",
        (REFERENCE, "self._gym.state = self._gym.np_random", "self._gym.np_random"),
    ),
    planted(
        "the other program is not declared", "cartpole", "spec_contract",
        ("schema.json", '  "x-outside": ["gymnasium"],\n', ""),
    ),
    planted(
        "the fast twin looks at the other program", "cartpole", "spec_contract",
        (FAST, "from torch import Tensor\n",
         "from gymnasium.envs.classic_control import CartPoleEnv as CartPoleEnv\nfrom torch import Tensor\n"),
    ),
)
