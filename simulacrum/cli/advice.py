"""From facts about the machine to findings: what will fail, what will be slow, and what mends it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulacrum.cli.health import EXTRAS, Finding
from simulacrum.cli.listing import Listed


def findings(facts: Mapping[str, Any], environments: Sequence[Listed]) -> list[Finding]:
    """Everything worth saying, problems first, then what is slow, then notes."""
    found = [
        *_libraries(facts["versions"], facts["torch"]),
        *_native(facts["native"]),
        *_compiler(facts["compiler"]),
        *_threads(facts["torch"], facts["machine"]),
        *_folders(facts["folders"]),
        *_environments(environments),
    ]
    order = ("problem", "slow", "note")
    return sorted(found, key=lambda finding: order.index(finding.level))


def _libraries(versions: Mapping[str, str | None], torch: Mapping[str, Any]) -> Iterator[Finding]:
    if torch["error"]:
        mend = "install torch again in this environment: pip install --force-reinstall torch"
        yield Finding("problem", "torch", f"torch cannot be imported ({torch['error']})", mend)
    elif torch["cpu_capability"] in ("DEFAULT", "NO AVX"):
        yield Finding(
            "slow", "processor", "torch uses no vector instructions of this processor",
            "unset ATEN_CPU_CAPABILITY if it is set; else this machine has none that torch knows",
        )  # fmt: skip
    absent = [name for name in EXTRAS if versions[name] is None]
    if absent:
        extras = ",".join(dict.fromkeys(EXTRAS[name] for name in absent))
        yield Finding(
            "note", "extras", f"not installed: {', '.join(absent)} (only some commands and scripts want them)",
            f'pip install "simulacrum[{extras}]"',
        )  # fmt: skip


def _native(native: Mapping[str, Any]) -> Iterator[Finding]:
    if native["compiler"] is None and native["chosen"]:
        yield Finding(
            "problem", "native form", f"SIMULACRUM_CC names {native['chosen']!r}, which is not there",
            "name another C compiler in it, or unset it: the package ziglang brings one",
        )  # fmt: skip
    elif native["compiler"] is None:
        yield Finding(
            "slow", "native form", "the package ziglang is not installed, so steps cannot be compiled to one loop: the "
            "same bits, many times slower", "pip install ziglang, then validate again",
        )  # fmt: skip


def _compiler(compiler: Mapping[str, Any]) -> Iterator[Finding]:
    if compiler["path"] is None:
        yield Finding(
            "note", "compiler", "no C++ compiler was found ($CXX, g++, clang++, c++); only the form inductor needs one",
            "install one (Debian, Ubuntu: apt install g++) if you want that form",
        )  # fmt: skip
    elif compiler["version"] is None:
        yield Finding(
            "problem", "compiler", f"{compiler['path']} does not run", "mend it, or name another in the variable CXX"
        )
    elif not compiler["python_headers"]:
        yield Finding(
            "problem", "compiler", f"Python.h is not in {compiler['include']}, so compiled steps cannot be built",
            "install Python's headers (Debian, Ubuntu: apt install python3-dev), or use --compile eager",
        )  # fmt: skip


def _threads(torch: Mapping[str, Any], machine: Mapping[str, Any]) -> Iterator[Finding]:
    threads, cores, load = torch.get("threads", 1), machine["cores"], machine["load"]
    if threads > cores:
        yield Finding(
            "slow", "threads", f"torch would use {threads} threads on {cores} core(s)", "export OMP_NUM_THREADS=1"
        )
    elif threads > 1:
        busy = "" if load is None or load < cores / 2 else f"; the load is {load} on {cores} cores now"
        yield Finding(
            "slow", "threads", f"torch would use {threads} threads in your scripts. Steps are too small to gain from "
            f"a second one, and where other work shares the machine they slow down many times over{busy}",
            "export OMP_NUM_THREADS=1 (the commands of simulacrum do so by themselves)",
        )  # fmt: skip
    if load is not None and load > cores + 0.5:
        yield Finding(
            "note", "load", f"the machine is busy: load {load} on {cores} core(s), so figures will be low and noisy",
            "measure when it is idle",
        )  # fmt: skip


def _folders(folders: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    compiled, state = folders["compiled code"], folders["state"]
    if not compiled["writable"]:
        yield Finding(
            "problem", "compiled code", f"{compiled['path']} cannot be written, so compiled steps cannot be built",
            "name a folder in the variable TORCHINDUCTOR_CACHE_DIR",
        )  # fmt: skip
    elif not compiled["executable"]:
        yield Finding(
            "problem", "compiled code", f"{compiled['path']} is mounted noexec, so compiled steps cannot be loaded",
            "name a folder elsewhere in the variable TORCHINDUCTOR_CACHE_DIR",
        )  # fmt: skip
    if not state["writable"]:
        yield Finding(
            "note", "state", f"{state['path']} cannot be written; partial runs and read-only installs report there",
            "name a folder in the variable SIMULACRUM_STATE_DIR",
        )  # fmt: skip


def _environments(environments: Sequence[Listed]) -> Iterator[Finding]:
    for one in environments:
        if one.gate == "broken":
            yield Finding("problem", one.name, f"broken: {'; '.join(one.why)}", one.next_command)
        elif one.gate in ("failing", "damaged"):
            yield Finding("problem", one.name, f"{one.gate}: {'; '.join(one.why[:2])}", one.next_command)
        elif one.gate != "fresh":
            text = f"its gate is closed ({one.gate.replace('_', ' ')}): {'; '.join(one.why[:2])}"
            yield Finding("note", one.name, text, one.next_command)
        elif one.unbuilt is not None:
            yield Finding(
                "slow", one.name, f"it has no native form, so make_vec builds a slower one: {one.unbuilt}",
                f"mend that line, then {one.next_command}",
            )  # fmt: skip
        elif not any(title.startswith("native") for title in one.validated):
            yield Finding(
                "slow", one.name, f"validated for {', '.join(one.validated)}, so make_vec builds no native form",
                one.next_command,
            )  # fmt: skip
