"""What is imported when, and from where: the start-up budget, and layers that only look down."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ffncalc

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ffncalc"
MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
SLOW = ["pydantic", "rich", "numpy", "importlib.metadata", "importlib.resources"]


def imported_by(code: str) -> set[str]:
    """The modules that a fresh process has imported at its end, by the names it imports them under."""
    told = "sys.stderr.write(' '.join(sys.modules))"
    script = f"import sys, os\nend = os._exit\nos._exit = lambda code: ({told}, end(code))\n{code}\nos._exit(0)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT, timeout=60
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "args",
    [["params", "llama-7b", "--json"], ["params", "llama-7b"], ["flops", "llama-7b", "--json"], ["hidden-dim", "4096"]],
)
def test_a_command_imports_what_it_needs(args: list[str]) -> None:
    """None of the slow modules is imported where the output is plain."""
    found = imported_by(f"sys.argv = ['ffncalc', *{args!r}]\nfrom ffncalc.cli import main\nmain()")
    assert "ffncalc.report" in found or "ffncalc.hidden" in found
    assert found.isdisjoint(SLOW)


def test_importing_the_package_is_light() -> None:
    """`import ffncalc` imports neither numpy nor rich nor typer, nor what the commands need."""
    found = imported_by("import ffncalc")
    assert found.isdisjoint({*SLOW, "typer", "yaml", "torch"})
    assert not any(name.startswith("ffncalc.cli") for name in found)


def test_public_names_are_no_modules() -> None:
    """A module of the same name would take a public name's place as soon as anything imports it."""
    assert {f"ffncalc.{name}" for name in ffncalc.__all__}.isdisjoint(MODULES)
    assert all(getattr(ffncalc, name) is not None for name in ffncalc.__all__)


def test_these_tests_can_fail() -> None:
    """What a process imports is seen."""
    assert "numpy" in imported_by("import numpy")
    assert "importlib.metadata" in imported_by("import importlib.metadata")


# ------------------------------------------------------------------ layers
# From the top: a module imports from its own layer and those below it, inside functions too.
LAYERS = [
    ["cli", "__main__"],
    ["render", "export", "schema"],
    ["report"],
    ["loading", "model", "resolve", "families", "blocks", "spec", "numeric"],
    ["ops"],
    ["expr"],
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
ONLY_IN = {
    "rich": ("render",),
    "numpy": ("numeric", "search", "sweep"),
    "typer": ("cli",),
    "yaml": ("text",),
    "matplotlib": ("plot",),
}


def imports_of(path: Path, module: str) -> set[str]:
    """Every module that a source file imports, also inside functions; not for type checking alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    found: set[str] = set()
    package = module.rsplit(".", 1)[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            base = f"{package}.{base}".rstrip(".") if node.level else base
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base for alias in node.names}
    return found


def layer(module: str) -> str:
    """The part of the package that a module belongs to."""
    return f"{module}.".split(".")[1]


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_go_one_way(module: str) -> None:
    """cli → render, export → report → families, model → blocks → ops → expr → nothing."""
    mine = RANK.get(layer(module))
    upward = {
        name
        for name in imports_of(MODULES[module], module)
        if name.startswith("ffncalc.") and mine is not None and RANK.get(layer(name), 99) < mine
    }
    assert upward == set()
    if module == "ffncalc.expr":
        assert not any(name.startswith("ffncalc") for name in imports_of(MODULES[module], module))


@pytest.mark.parametrize("module", sorted(MODULES))
def test_who_imports_a_library(module: str) -> None:
    """Only render imports rich, only the numeric side numpy, only cli typer, only text the YAML reader."""
    roots = {name.split(".")[0] for name in imports_of(MODULES[module], module)}
    inside = module.removeprefix("ffncalc.")
    wrong = {library for library, where in ONLY_IN.items() if library in roots and not inside.startswith(where)}
    assert wrong == set()


@pytest.mark.parametrize("module", sorted(MODULES))
def test_modules_fit_in_one_reading(module: str) -> None:
    """No module is over 500 lines."""
    lines = MODULES[module].read_text(encoding="utf-8").count("\n")
    assert lines <= 500
