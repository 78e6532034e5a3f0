"""What the consumers of reports accept, where no package has their schema.

JUnit: the elements and attributes that both the schema of Surefire and that of Jenkins (junit-10)
have. CTRF: the members of its specification 1.0.0. SARIF and
HAR are read by packages: `pydantic-sarif`, `haralyzer`.
"""

import re
import xml.etree.ElementTree as ET
from datetime import datetime

#: Required attributes, other attributes, and children in their order (`*`: any number).
JUNIT = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, set(), "testsuite*"),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped", "time"},
        {"timestamp"},
        "properties? testcase*",
    ),
    "properties": (set(), set(), "property*"),
    "property": ({"name", "value"}, set(), ""),
    "testcase": (
        {"name", "classname", "time"},
        set(),
        "failure* skipped? error? system-out? system-err?",
    ),
    "failure": ({"message", "type"}, set(), ""),
    "error": ({"message", "type"}, set(), ""),
    "skipped": ({"message"}, set(), ""),
    "system-out": (set(), set(), ""),
    "system-err": (set(), set(), ""),
}
#: What GitLab reads of a test case, and the schemas do not have.
EXTENSIONS = {"file", "line"}


def junit_problems(text, *, extended=False):
    """List what makes a file invalid by the schemas; `extended` allows what only GitLab reads."""
    root = ET.fromstring(text)
    problems = [] if root.tag == "testsuites" else [f"the root is {root.tag}"]
    for element in root.iter():
        required, others, children = JUNIT.get(element.tag, (set(), set(), "unknown element"))
        allowed = required | others
        if extended and element.tag == "testcase":
            allowed = allowed | EXTENSIONS
        given = set(element.attrib)
        if not required <= given <= allowed:
            problems.append(f"{element.tag} has {given - allowed}, lacks {required - given}")
        shape = "".join(
            f"(?:{part.rstrip('*?')} ){part[-1] if part[-1] in '*?' else ''}"
            for part in children.split()
        )
        if not re.fullmatch(shape, "".join(f"{child.tag} " for child in element)):
            problems.append(f"{element.tag} contains {[child.tag for child in element]}")
        if not re.fullmatch(r"\d*\.\d{3}", element.get("time", "0.000")):
            problems.append(f"time is {element.get('time')}")
        if "timestamp" in given:
            datetime.fromisoformat(element.get("timestamp"))
    return problems


_TEXT, _COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
_NAME = {"type": "string", "minLength": 1}


def _closed(required, others=None):
    """Return a schema of an object that has these members and no others."""
    return {
        "type": "object",
        "required": [*required],
        "properties": {**required, **(others or {})},
        "additionalProperties": False,
    }


CTRF_STATUSES = ("passed", "failed", "skipped", "pending", "other")
CTRF = _closed(
    {
        "reportFormat": {"const": "CTRF"},
        "specVersion": {"const": "1.0.0"},
        "results": _closed(
            {
                "tool": _closed({"name": _NAME}, {"version": _TEXT}),
                "summary": _closed(
                    dict.fromkeys(("tests", *CTRF_STATUSES, "start", "stop"), _COUNT),
                    {"suites": _COUNT, "duration": _COUNT},
                ),
                "tests": {
                    "type": "array",
                    "items": _closed(
                        {
                            "name": _NAME,
                            "status": {"enum": [*CTRF_STATUSES]},
                            "duration": _COUNT,
                        },
                        {
                            "rawStatus": _TEXT,
                            "suite": {"type": "array", "minItems": 1, "items": _TEXT},
                            "message": _TEXT,
                            "trace": _TEXT,
                            "line": _COUNT,
                            "filePath": _TEXT,
                            "tags": {"type": "array", "items": _TEXT},
                            "extra": {"type": "object"},
                        },
                    ),
                },
            },
            {
                "environment": _closed(
                    {},
                    {
                        "appName": _TEXT,
                        "testEnvironment": _TEXT,
                        "healthy": {"type": "boolean"},
                        "extra": {"type": "object"},
                    },
                )
            },
        ),
    },
    {"timestamp": {"type": "string", "pattern": "^[0-9-]{10}T[0-9:.]+Z$"}, "generatedBy": _TEXT},
)

#: A workflow command as the runner of GitHub Actions reads it.
COMMAND = re.compile(r"::(?P<name>[a-z-]+)(?: (?P<properties>[^:]*))?::(?P<data>.*)")


def workflow_commands(text):
    """Read workflow commands as the runner does: command, properties, message."""
    commands = []
    for line in text.split("\n")[:-1]:
        match = COMMAND.fullmatch(line)
        assert match, line
        pairs = (match["properties"] or "").split(",")
        properties = dict(pair.split("=", 1) for pair in pairs if pair)
        commands.append(
            (
                match["name"],
                {name: _unescaped(value) for name, value in properties.items()},
                _unescaped(match["data"]),
            )
        )
    return commands


def _unescaped(text):
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text
