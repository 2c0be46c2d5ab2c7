"""Something to do once a module is there that may never be needed: no import for it alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


def after_import(name: str, call: Callable[[], object]) -> None:
    """Call `call()` now where the top-level module `name` is imported, else as soon as anybody imports it.

    It is called once, before that import statement goes on, and sees the whole module; what it raises comes
    out there. Looking for the module (`importlib.util.find_spec`) calls nothing. An importer that is put
    before all others later on, and asks none of them, is not noticed.
    """
    if sys.modules.get(name) is not None:
        call()
    else:
        sys.meta_path.insert(0, _Watch(name, call))


class _Watch:
    """Finds nothing by itself: it lets the finders after it find the module and adds the call to its loading."""

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self.name, self.call = name, call

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The watched module as the finders after it find it, the call added to its loading; None for others."""
        if fullname != self.name or self not in sys.meta_path:
            return None
        for finder in sys.meta_path[sys.meta_path.index(self) + 1 :]:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                self._call_after(spec.loader)
                return spec
        return None

    def _call_after(self, loader: Any) -> None:
        if loader is None:  # a mere folder of that name
            return
        execute: Callable[[ModuleType], None] = loader.exec_module

        def execute_and_call(module: ModuleType) -> None:
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.call()

        # On this one loader object, which stays what it is for everybody who asks the module about its files.
        loader.exec_module = execute_and_call
