"""Wrong ends: the tables of the autoreset modes, and final observations."""

from __future__ import annotations

from typing import Any

import numpy as np
from kit.track import Track

from conformance.faults.base import DISABLED, SAME, Returned, fault


@fault("next_step.reset_step")
class PaidReset(Track):
    def rewards(self, live: Any, actions: Any) -> Any:
        return super().rewards(live | True, actions)


@fault("next_step.action_ignored")
class EagerStart(Track):
    def move(self, live: Any, actions: Any) -> None:
        super().move(live, actions)
        self.pushed = np.where(live, 0, actions)

    def observe(self) -> Any:
        return super().observe() + (self.pushed[:, None] if self.started else 0)


class Final(Track):
    def final(self, ended: Any, observation: Any, info: Any) -> Any:
        return self.changed(super().final(ended, observation, info))


@fault("same_step.final_obs", autoreset_mode=SAME)
class MarksAll(Final):
    def changed(self, final: Any) -> Any:
        final["_final_obs"][:] = True
        return final


@fault("same_step.final_obs_mask", autoreset_mode=SAME)
class Unmarked(Final):
    def changed(self, final: Any) -> Any:
        del final["_final_obs"]
        return final


@fault("same_step.final_info", autoreset_mode=SAME)
class NoFinalInfo(Final):
    def changed(self, final: Any) -> Any:
        return {key: value for key, value in final.items() if "final_obs" in key}


@fault("same_step.ordinary_after", autoreset_mode=SAME)
class Stuttering(Track):
    def step(self, actions: Any) -> Any:
        return super().step(np.where(self.done, 1, actions))


@fault("disabled.reset_mask", autoreset_mode=DISABLED)
class ResetsAll(Track):
    def begin(self, mask: Any) -> None:
        super().begin(mask | mask.any())


@fault("disabled.no_autoreset", autoreset_mode=DISABLED)
class Tolerant(Track):
    def check(self, actions: Any) -> None:
        self.done[:] = False
        super().check(actions)


# --- final observations ---------------------------------------------------------------------------------------------


class AtTheEnd(Returned):
    def out(self, observation: Any, reward: Any, *rest: Any) -> Any:
        observation, reward = self.end(observation, reward, self.done)
        return (observation, reward, *rest)


@fault("final.beside_single")
class EarlyEnd(AtTheEnd):
    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        observation[done, 0] -= 1
        return observation, reward


@fault("final.reward_and_flags")
class UnpaidEnd(AtTheEnd):
    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        return observation, np.where(done, 0, reward)


@fault("final.not_the_next_first", autoreset_mode=SAME)
class FinalAfterReset(Track):
    def step(self, actions: Any) -> Any:
        given = super().step(actions)
        for row in np.flatnonzero(given[4].get("_final_obs", [])):
            given[4]["final_obs"][row] = given[0][row].copy()
        return given


@fault("final.not_the_one_before")
class Late(AtTheEnd):
    before: Any = None

    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        shown = np.where(done[:, None], self.before, observation) if self.before is not None else observation
        self.before = observation.copy()
        return shown, reward

    def reset(self, **given: Any) -> Any:
        observation, info = super().reset(**given)
        self.before = observation.copy()
        return observation, info


@fault("modes.agree")
class Generous(AtTheEnd):
    def end(self, observation: Any, reward: Any, done: Any) -> Any:
        return observation, reward + done.astype(np.float32) * (self.mode is SAME)
