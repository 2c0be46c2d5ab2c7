"""Every step of a film run again in the reference, line by line, with one watcher for all of them.

`watch_reference` does so for the one step of a failure, and reads the source anew for it; a film has hundreds.
"""

from __future__ import annotations

from simulacrum.contract.package import EnvPackage
from simulacrum.engine.runner import ReferenceRunner
from simulacrum.engine.single import scalar_action
from simulacrum.harness.explain.line_watcher import Watcher
from simulacrum.harness.explain.standing import Standing
from simulacrum.harness.explain.watched import Watched, reference_value
from simulacrum.trace.trajectory import words_by_slot


class Rerun:
    """The reference of one package, to be watched in step after step."""

    def __init__(self, package: EnvPackage) -> None:
        self.package = package
        self.watcher = Watcher(package.folder / "reference.py", reference_value)

    def watch(self, at: Standing | None) -> Watched:
        """The lines that run from there in one step, or in a reset where there is no state; none for None."""
        if at is None:
            return Watched()
        self.watcher.ran, self.watcher.roots, self.watcher.given = [], [], []
        runner = ReferenceRunner(self.package, params=at.params, max_episode_steps=at.limit, ledger=True)
        runner.override = dict(at.forced) or None
        raised = None
        try:
            self._run(runner, at)
        except Exception as error:  # a twin under judgement may raise anything; what ran until then is shown
            raised = f"{type(error).__name__}: {error}".splitlines()[0]
        counts = {slot.name: slot.words for slot in runner.layout.slots}
        return Watched(tuple(self.watcher.ran), (), words_by_slot(runner.draws, counts), raised)

    def _run(self, runner: ReferenceRunner, at: Standing) -> None:
        if at.state is None:
            with self.watcher.watching():
                runner.reset(at.seed, at.episode)
                _ = runner.info(), runner.action_mask()
            return
        runner.load(at.state, t=at.t, seed=at.seed, episode=at.episode)
        with self.watcher.watching():
            runner.step(scalar_action(self.package.schema.action, at.action))
