"""The document of the control API for tests: its operations, its members, what a body violates."""

import io
import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache

import yaml
from jsonschema import Draft202012Validator, FormatChecker

from assay._resources import control_api
from assay.sandbox.control import PREFIX

DOCUMENT = yaml.safe_load(control_api().read_text("utf-8"))
FORMATS = FormatChecker(())


@FORMATS.checks("date-time", raises=ValueError)
def is_moment(text):
    """Whether a text is a time with an offset."""
    return not isinstance(text, str) or datetime.fromisoformat(text).tzinfo is not None


@FORMATS.checks("date", raises=ValueError)
def is_day(text):
    """Whether a text is a day."""
    return not isinstance(text, str) or bool(date.fromisoformat(text))


@cache
def operations():
    """Return each operation with its method and the pattern of its path."""
    return [
        (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), operation)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]


def operation_of(method, path):
    """Return the one operation that a call is for."""
    (found,) = [
        operation
        for known, pattern, operation in operations()
        if known == method and pattern.fullmatch(path)
    ]
    return found


def resolved(node):
    """Follow a reference, and keep what stands beside it."""
    while "$ref" in node:
        aim = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            aim = aim[step]
        node = {**aim, **{name: value for name, value in node.items() if name != "$ref"}}
    return node


def members(schema, value=None, path=""):
    """Yield the path of each documented member; of `value`, only those that it has.

    Names that are free, those of states for example, are `*`.
    """
    schema = resolved(schema)
    for each in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from members(each, value, path)
    known = schema.get("properties", {})
    if known:
        for name in known if value is None else value if isinstance(value, Mapping) else ():
            inner = None if value is None else value[name]
            yield f"{path}/{name}".removeprefix("/")
            yield from members(known.get(name, {}), inner, f"{path}/{name}")
    if "items" in schema:
        for item in [None] if value is None else value if isinstance(value, list) else ():
            yield from members(schema["items"], item, path)


def body_schema(node):
    """Return the schema of a request or of a response; None without a body."""
    content = resolved(node).get("content")
    return content and content["application/json"]["schema"]


def faults(schema, value):
    """Return what is wrong with a body by its schema."""
    whole = {**resolved(schema), "components": DOCUMENT["components"]}
    found = Draft202012Validator(whole, format_checker=FORMATS).iter_errors(value)
    return [error.message for error in found]


class Recorder:
    """An application that keeps the calls of its control API, and the answers."""

    def __init__(self, app):
        self.app, self.calls = app, []

    def __call__(self, environ, start_response):
        path, lines = environ["PATH_INFO"], []
        if not path.startswith(PREFIX):
            return self.app(environ, start_response)
        sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        environ = {**environ, "wsgi.input": io.BytesIO(sent)}
        body = b"".join(self.app(environ, lambda *line: lines.append(line[:2])))
        status = lines[0][0][:3]
        self.calls.append((environ["REQUEST_METHOD"], path[len(PREFIX) :], sent, status, body))
        start_response(*lines[0])
        return [body]


def misfits(calls):
    """Return what the document lacks of recorded calls, or forbids."""
    found = []
    for method, path, sent, status, body in calls:
        operation = operation_of(method, path)
        answer = body_schema(operation["responses"][status])
        if (answer is None) is not (not body):
            found.append((path, status, body))
        if body:
            found += [(path, fault) for fault in faults(answer, json.loads(body))]
        if sent and status < "4":
            asked = body_schema(operation["requestBody"])
            found += [(path, fault) for fault in faults(asked, json.loads(sent))]
    return found
