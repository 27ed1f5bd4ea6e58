"""What must be believed of a certificate: which modules its checker rests on, and that no float is among them."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from places import DOCS

import uneven
from uneven.calibration.trusted.checker import check
from uneven.errors import CertificateError
from uneven.zoo.certificates import FOLDER

CHECKER = "uneven.calibration.trusted.checker"
CERTIFICATES = sorted(FOLDER.glob("*.json"))

CHECK_ALL = f"""
import sys
before = set(sys.modules)
import json, pathlib
from {CHECKER} import check
checked = {{file: check(pathlib.Path(file).read_text(encoding="utf-8"))[0] for file in json.load(sys.stdin)}}
files = (name for name in set(sys.modules) - before if getattr(sys.modules[name], "__file__", None))
foreign = {{name.partition(".")[0] for name in files}} - set(sys.stdlib_module_names) - {{"uneven"}}
ours = sorted(name for name in sys.modules if name.partition(".")[0] == "uneven")
print(json.dumps({{"checked": checked, "foreign": sorted(foreign), "ours": ours}}))
"""


def lines_of(modules: list[str]) -> int:
    return sum(len(source_of(module).read_text(encoding="utf-8").splitlines()) for module in modules)


def source_of(module: str) -> Path:
    found = find_spec(module)
    assert found is not None
    assert found.origin is not None
    return Path(found.origin)


def imported_by(node: ast.AST) -> Iterator[str]:
    """Modules that a module imports anywhere, also inside functions; not what only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        match child:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module, names, 0) if module is not None:
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
        yield from imported_by(child)


def closure(module: str) -> set[str]:
    """The module and all that its source imports, with the packages that hold them."""
    found: set[str] = set()
    pending = [module]
    while pending:
        name = pending.pop()
        if name in found or name.partition(".")[0] != "uneven" or not is_module(name):
            continue
        found.add(name)
        pending += imported_by(ast.parse(source_of(name).read_text(encoding="utf-8")))
        pending += [name.rpartition(".")[0]]
    return found


def is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # a name in a module that is no package
        return False


@pytest.mark.slow
def test_the_trusted_base() -> None:
    """A fresh process checks every certificate of the zoo with few modules of ours, and Flint."""
    files = json.dumps([str(file) for file in CERTIFICATES])
    done = subprocess.run([sys.executable, "-c", CHECK_ALL], input=files, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    modules, lines = found["ours"], lines_of(found["ours"])
    print(f"verify rests on {len(modules)} modules with {lines} lines, and on {', '.join(found['foreign'])}:")
    print(*(f"{lines_of([module]):5d} {module}" for module in modules), sep="\n")
    assert found["foreign"] == ["flint"]
    assert set(modules) == closure(CHECKER)
    page = (DOCS / "certificates.md").read_text(encoding="utf-8")
    stated = re.search(r"(\d+) modules with at most ([\d,]+) lines", " ".join(page.split()))
    assert stated is not None
    most = int(stated[2].replace(",", ""))
    assert len(modules) == int(stated[1]), "the trusted base has another size: should it? Then docs/certificates.md"
    assert most - 100 < lines <= most, "the trusted base has another size: should it? Then docs/certificates.md"
    assert len(found["checked"]) == len(CERTIFICATES) > 100
    for file, statement in found["checked"].items():
        assert statement == json.loads(Path(file).read_text(encoding="utf-8"))["statement"]


@pytest.mark.parametrize(
    "function",
    ["t", "1 - t", "1/t", "log(t)", "-exp(t)", "t**2 - 1e-9", "sqrt(t)", "exp(-t) - 1e-30", "1/(1 - t)**2", "hinge", 3],
)
def test_a_text_that_is_no_loss_needs_no_float_to_be_refused(function: object) -> None:
    """Floats only say sooner, and with a point, what the first step of every proof must show."""
    certificate = json.loads(uneven.certify("hinge").to_json())
    for partial in certificate["loss"].values():
        partial["function"] = function
    text = json.dumps(certificate)
    with pytest.raises(CertificateError):
        check(text)
    assert not uneven.verify(text)


def test_what_refuses_can_do_nothing_else() -> None:
    text = uneven.certify("hinge").to_json()
    seen: list[str] = []
    assert check(text, refuse=seen.append) == check(text)
    assert seen == ["relu(1 - t)"] * 2

    def reject(function: str) -> None:
        raise uneven.errors.LossError(f"not {function}")

    with pytest.raises(CertificateError, match=r"a partial loss is not a loss: not relu\(1 - t\)"):
        check(text, refuse=reject)
