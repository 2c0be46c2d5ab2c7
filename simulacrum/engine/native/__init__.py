"""The native form: a step as one loop of machine code over an arena of columns."""

from simulacrum.engine.native.batch import NativeBatch
from simulacrum.engine.native.binary import Binary, build, load

__all__ = ["Binary", "NativeBatch", "build", "load"]
