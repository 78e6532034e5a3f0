"""The files of a new built-in rule kind.

    python harness/tests/support/new_kind.py NAME ROOM

Writes the class, its row in the table of kinds, its schema, its section in the reference, its test
with mutants, and a line of the changelog: six files, which pass as they stand. They judge something
simple, as those of `assay init --kind` do, until it is replaced.
"""

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path
from string import Template

from assay.errors import InputError
from assay.onboarding.init.kind_template import kind_files
from assay.rules.kinds import ROOMS

ROOT = Path(__file__).resolve().parents[3]
KINDS = ROOT / "harness" / "assay" / "rules" / "kinds"
FACADE = ROOT / "harness" / "assay" / "kinds"
REFERENCE = ROOT / "contract" / "contract-reference.md"
CHANGELOG = ROOT / "CHANGELOG.md"

SECTION = Template("""\
### `$name`

```yaml
# rule
id: accounts.$name
kind: $name
says: What the document says.
operation: accounts
```

Facets:

* `answered`: The operation answers.

Needs: `psu`.

""")


def split(text: str) -> tuple[dict[str, set[str]], str]:
    """Return the names that a module imports by their module, and the text after its imports."""
    imports = [
        each for each in ast.parse(text).body if isinstance(each, ast.Import | ast.ImportFrom)
    ]
    names: dict[str, set[str]] = {}
    for each in imports:
        module = each.module if isinstance(each, ast.ImportFrom) else ""
        names.setdefault(module, set()).update(alias.name for alias in each.names)
    return names, "".join(text.splitlines(keepends=True)[imports[-1].end_lineno :])


def import_lines(names: dict[str, set[str]]) -> str:
    """Return import statements; ruff puts them in order."""
    return "".join(
        f"from {module} import {', '.join(sorted(named))}\n" if module else
        "".join(f"import {name}\n" for name in sorted(named))
        for module, named in sorted(names.items())
    )  # fmt: skip


def docstring(text: str) -> str:
    """Return the docstring of a module as it is written."""
    first = ast.parse(text).body[0]
    return "".join(text.splitlines(keepends=True)[: first.end_lineno])


def inside(text: str) -> str:
    """Return a module that takes from Assay's own modules what a guest takes from `assay.kinds`."""
    homes = {
        alias.name: node.module
        for path in FACADE.glob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    names, body = split(text)
    for name in names.pop("assay.kinds"):
        names.setdefault(homes[name], set()).add(name)
    return f"{docstring(text)}\n{import_lines(names)}{body}"


def test_of(mutants: str, test: str, module: str, room: str) -> str:
    """Return the test with its mutants: the kind is known, and no entry point names it."""
    names, body = split(test)
    more, banks = split(mutants)
    own = f"assay_{module}"
    del names[f"{own}_mutants"], names[""], names["pathlib"]
    names[""] = {"pytest"}
    names["assay.testing"].discard("use_kind")
    names[f"assay.rules.kinds.{room}.{module}"] = names.pop(own)
    for home, named in more.items():
        names.setdefault(home, set()).update(named)
    body = re.sub(
        r"@pytest\.fixture\(autouse=True\)\ndef _known.*?\n\n\n", "", body, flags=re.DOTALL
    )
    body = body.partition("\n\ndef test_the_entry_point_names")[0]
    return f"{docstring(test)}\n{import_lines(names)}{banks}\n{body.lstrip()}\n"


def tabled(kind_class: str, module: str, room: str) -> str:
    """Return the table of kinds with a new one at the end of its room."""
    text = (KINDS / "__init__.py").read_text("utf-8")
    line = f"from assay.rules.kinds.{room}.{module} import {kind_class}\n"
    text = text.replace("from assay.rules.kinds.", f"{line}from assay.rules.kinds.", 1)
    room_at = text.index(f'    "{room}": (')
    end = text.index("    ),\n", room_at)
    return f"{text[:end]}        {kind_class},\n{text[end:]}"


def explained(name: str, room: str) -> str:
    """Return the reference with the row and the section of a new kind at the end of its room."""
    text = REFERENCE.read_text("utf-8")
    last = ROOMS[room][-1].name
    promises = "| serves or returns something | "
    text = text.replace(promises, f"{promises}`{name}`, ", 1)
    after = re.compile(rf"(^### `{last}`\n.*?)(?=^##)", re.MULTILINE | re.DOTALL)
    return after.sub(lambda found: found[1] + SECTION.substitute(name=name), text, count=1)


def main() -> None:
    """Write the files, and say which."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", help="the word after `kind:` in a contract")
    parser.add_argument("room", choices=ROOMS, help="what clauses of the kind are about")
    options = parser.parse_args()
    try:
        kind, mutants, test = [*kind_files(options.name).values()][1:]
    except InputError as error:
        parser.error(str(error))
    module = options.name.replace("-", "_")
    (class_,) = (each for each in ast.parse(kind).body if isinstance(each, ast.ClassDef))
    changes = CHANGELOG.read_text("utf-8")
    heading = "#### Contracts and rule kinds\n\n"
    files = {
        KINDS / options.room / f"{module}.py": inside(kind),
        KINDS / "__init__.py": tabled(class_.name, module, options.room),
        REFERENCE: explained(options.name, options.room),
        ROOT / "harness" / "tests" / "rules" / f"test_{module}.py": test_of(
            mutants, test, module, options.room
        ),
        CHANGELOG: changes.replace(heading, f"{heading}- New kind: `{options.name}`.\n", 1),
    }
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
    python = [*map(str, (path for path in files if path.suffix == ".py"))]
    for arguments in (
        ["ruff", "check", "--quiet", "--fix", *python],
        ["ruff", "format", "--quiet", *python],
        [
            "pytest",
            "-q",
            "--write",
            "harness/tests/contract/test_schema.py",
            "-k",
            f"[{options.name}]",
        ],
    ):
        subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, check=True, stdout=sys.stderr)
    schema = ROOT / "contract" / "schema" / "rules" / f"{options.name}.yaml"
    for path in (*files, schema):
        print(path.relative_to(ROOT))  # noqa: T201 -- a script


if __name__ == "__main__":
    main()
