"""How many places a reader of ``src`` has to know: files, lines, forwarding, names, walks, constants. One row a count.

    python benchmarks/rooms.py [CHECKOUT ...] [--files]

Each further checkout is a column of its own, for a table of before and after. A walk is a call whose files are counted:
those in which a function of this package runs while the call runs, in all threads of the process. The call ran once
before, so that what is made once is there already. ``--files`` prints the files of each walk of the last checkout.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
#: Folders to which others add files without changing one: their files are small and may be named after a thing.
PLUG_INS = (
    "losses/phis",
    "zoo/libraries",
    "app/cli/commands",
    "cli/commands",
    "figures",
    "onnx_converters",
    "algorithms",
)

WALK = """
import json, sys, tempfile, threading, warnings
from pathlib import Path
import numpy as np
import uneven
warnings.simplefilter("ignore")
package = Path(uneven.__file__).parent
random = np.random.default_rng(0)
X = random.normal(size=(300, 5))
y = (X[:, 0] + random.logistic(size=300) > 1).astype(int)

def command(*words):
    from click.testing import CliRunner
    try:
        from uneven.app.cli.main import main
    except ImportError:
        from uneven.cli.main import main
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == 0, result.output

folder = Path(tempfile.mkdtemp())
table = folder / "table.csv"
rows = "\\n".join(",".join([*(f"{value:.6f}" for value in row), str(label)]) for row, label in zip(X, y))
table.write_text("a,b,c,d,e,answer\\n" + rows + "\\n")

def linear():
    uneven.UnevenLinearClassifier(fn_cost=5).fit(X, y)

def tuned():
    uneven.UnevenClassifierCV(fn_cost=5, cv=3).fit(X, y)

def fit_command():
    command("fit", table, "--target", "answer", "--positive", "1", "--fp-cost", 1, "--fn-cost", 5, "--quick",
            "-o", folder / "model.skops")

def predict_command():
    if not (folder / "model.skops").exists():
        fit_command()
    command("predict", folder / "model.skops", table, "-o", folder / "decisions.csv")

def dask():
    import dask.array as da
    from distributed import Client
    from uneven.adapters.dask import DaskUnevenLinearClassifier
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        rows, labels = da.from_array(X, chunks=(100, 5)), da.from_array(y, chunks=100)
        DaskUnevenLinearClassifier(fn_cost=5, client=client).fit(rows, labels)

def certificate():
    loss = uneven.UnevenMarginLoss("logistic", gamma=2)
    assert uneven.verify(uneven.certify(loss))

call = {name}
call()
found = set()
def notice(frame, event, value):
    if event == "call":
        found.add(frame.f_code.co_filename)
threading.setprofile(notice)
sys.setprofile(notice)
call()
sys.setprofile(None)
paths = (Path(name) for name in found)
print(json.dumps(sorted(str(path.relative_to(package)) for path in paths if path.is_relative_to(package))))
"""
WALKS = {
    "a warm linear fit": "linear",
    "a search of gamma and C": "tuned",
    "`uneven fit --quick`": "fit_command",
    "`uneven predict`": "predict_command",
    "a fit of a Dask array": "dask",
    "`certify` and `verify`": "certificate",
}
TRUSTED = """
import json, sys
from {checker} import check
from pathlib import Path
for file in {files}:
    check(Path(file).read_text(encoding="utf-8"))
print(json.dumps(sorted(name for name in sys.modules if name.partition(".")[0] == "uneven")))
"""


class House:
    """The source files of one checkout, and what imports what."""

    def __init__(self, checkout: Path) -> None:
        self.source = checkout / "src"
        self.files = sorted(self.source.rglob("*.py"))
        self.texts = {self.module(file): file.read_text(encoding="utf-8") for file in self.files}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}
        self.edges = {
            (name, target) for name, tree in self.trees.items() for target in self.imported(tree) if target != name
        }

    def module(self, file: Path) -> str:
        parts = file.relative_to(self.source).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def imported(self, tree: ast.AST) -> Iterator[str]:
        """Modules of this package that are imported anywhere in a file, also inside functions."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.texts)
            elif isinstance(node, ast.ImportFrom) and node.module in self.texts:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    yield inner if inner in self.texts else str(node.module)

    def counts(self) -> dict[str, int]:
        """The rows of the table that need no run."""
        importers = Counter(target for _, target in self.edges)
        one = {target: name for name, target in self.edges if importers[target] == 1}
        packages = {self.module(file) for file in self.files if file.name == "__init__.py"}
        alone = [name for name, user in one.items() if name not in packages and folder(name) == folder(user)]
        names = Counter(name.rpartition(".")[2] for name in self.texts if name not in packages)
        own = Counter(name.rpartition(".")[2] for name in self.texts if name not in packages and not in_plug_ins(name))
        return {
            "files": len(self.files),
            "lines": sum(len(text.splitlines()) for text in self.texts.values()),
            "... of code (no comments, no descriptions, no empty lines)": sum(
                lines_of_code(self.trees[name], text) for name, text in self.texts.items()
            ),
            "files of more than 500 lines": sum(len(text.splitlines()) > 500 for text in self.texts.values()),
            "modules with one importer": len([name for name in one if name not in packages]),
            "... in the same folder, no plug-ins": len([name for name in alone if not in_plug_ins(name)]),
            "file names used twice": sum(count > 1 for count in names.values()),
            "... outside plug-in folders": sum(count > 1 for count in own.values()),
            "imports of one module by another": len(self.edges),
            "... that leave a room": sum(room(name) != room(target) for name, target in self.edges),
            "tuned numbers in `solvers`": sum(
                tuned_numbers(tree)
                for name, tree in self.trees.items()
                if room(name) == "solvers" or ".linear." in name
            ),
        }

    def run(self, program: str) -> list[str]:
        environment = os.environ | {"PYTHONPATH": str(self.source), "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment
        )
        if done.returncode:
            print(done.stderr.strip().splitlines()[-1], file=sys.stderr)
            return []
        return json.loads(done.stdout.splitlines()[-1])

    def trusted(self) -> list[str]:
        """Modules that are loaded once every certificate of the zoo is checked."""
        checker = next(name for name in self.texts if name.endswith((".trusted.checker", ".checker")))
        files = [str(file) for file in sorted((self.source / "uneven" / "zoo").rglob("*.json"))]
        return self.run(TRUSTED.format(checker=checker, files=files))


def folder(module: str) -> str:
    return module.rpartition(".")[0]


def room(module: str) -> str:
    """The folder of the package in which a module lies; what lies in none is the ground floor."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 or module in ROOMS else "ground"


ROOMS = {f"uneven.{path.name}" for path in (HERE / "src" / "uneven").iterdir() if path.is_dir()}


def in_plug_ins(module: str) -> bool:
    return folder(module).replace(".", "/").endswith(PLUG_INS)


def lines_of_code(tree: ast.Module, text: str) -> int:
    """Lines that are neither empty nor a comment nor part of a description."""
    described: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            described.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and k not in described
        for k, line in enumerate(text.splitlines(), 1)
    )


def tuned_numbers(tree: ast.Module) -> int:
    """Numbers in records named ``Limits``, and module-level names in capitals that are a number."""
    count = 0
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Limits"):
            count += sum(isinstance(field, ast.AnnAssign) and is_number(field.value) for field in node.body)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id.isupper():
            count += is_number(node.value)
    return count


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is made of numbers alone."""
    return node is not None and all(
        isinstance(part, (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop))
        or (isinstance(part, ast.Constant) and isinstance(part.value, (int, float)))
        for part in ast.walk(node)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", nargs="*", type=Path, default=[HERE])
    parser.add_argument("--files", action="store_true", help="print the files of each walk of the last checkout")
    arguments = parser.parse_args()
    columns: list[dict[str, object]] = []
    entered: dict[str, list[str]] = {}
    for checkout in arguments.checkouts:
        house = House(checkout.resolve())
        entered = {title: house.run(WALK.replace("{name}", name)) for title, name in WALKS.items()}
        base = house.trusted()
        lines = sum(len(house.texts[name].splitlines()) for name in base)
        columns.append(
            house.counts()
            | {f"files entered by {title}": len(files) or "-" for title, files in entered.items()}
            | {"modules of the trusted base": len(base) or "-", "... their lines": lines or "-"}
        )
    for title in columns[0]:
        print(
            f"| {title} | "
            + " | ".join(f"{column[title]:,}" if column[title] != "-" else "-" for column in columns)
            + " |"
        )
    if arguments.files:
        for title, files in entered.items():
            print(f"\n{title}:", *files, sep="\n    ")


if __name__ == "__main__":
    main()
