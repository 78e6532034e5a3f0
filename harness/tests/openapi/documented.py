"""An independent reader of OpenAPI documents: what a document forbids in a request or response.

Written from the specification, and shares nothing with what writes documents: so a wrong
place, name or status is seen here, and not only a wrong schema.
"""

import json
import re
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from assay._resources import contract_dir
from assay.binding.read.join import bind
from assay.openapi import document
from assay.parsing.parse import find_contract, parse_contract
from assay.preparation.prepare import load_target
from assay.rules.formats import FORMATS

ELSEWHERE = Path(__file__).parents[1] / "elsewhere"
LAB = (str(ELSEWHERE / "lab.yaml"),), str(ELSEWHERE / "target.yaml")
SHIPPED = ("aisp", "pis"), "sandbox"
STET = ("aisp", "pis"), "stet-1.4.0"
#: Contracts whose requests have shapes, ids of the bank, modes in the path, and consents.
_XS2A = contract_dir() / "examples" / "xs2a"
XS2A = (str(_XS2A / "xs2a.yaml"),), str(_XS2A / "nordhafen.yaml")
_QUAY = ELSEWHERE.parent / "consents"
QUAY = (str(_QUAY / "quay.yaml"),), str(_QUAY / "target.yaml")

CHECKER = FormatChecker(("date",))
for name, is_one in FORMATS.items():
    CHECKER.checks(name)(lambda value, is_one=is_one: not isinstance(value, str) or is_one(value))


@cache
def joined(contracts, target):
    """Return contracts bound to a target, and the target."""
    target = load_target(str(target))
    return bind([parse_contract(find_contract(one)) for one in contracts], target), target


@cache
def made(contracts=SHIPPED[0], target=SHIPPED[1]):
    """Return the document of contracts and a target."""
    return document(*joined(contracts, target))


def operations(doc):
    """Yield method, path and operation of everything that a document offers."""
    for path, item in doc["paths"].items():
        for method, one in item.items():
            yield method, path, one


class Documented:
    """A document that lists what it forbids in a request or response."""

    def __init__(self, doc):
        self.doc = doc
        resource = Resource.from_contents(doc, default_specification=DRAFT202012)
        self.registry = Registry().with_resource("urn:doc", resource)

    @cached_property
    def templates(self):
        """Every path as a pattern; those without parameters come first."""
        every = sorted(self.doc["paths"], key=lambda path: ("{" in path, path))
        return [
            (re.sub(r"\\\{([^{}]*)\\\}", r"(?P<\1>[^/]+)", re.escape(one)), one) for one in every
        ]

    def found(self, wire):
        """Return the path, the operation and the values in the path of a call, if any."""
        bases = [urlsplit(one["url"]) for one in self.doc["servers"]]
        asked = urlsplit(wire.url)
        for base in bases:
            if base[:2] != asked[:2] or not asked.path.startswith(base.path):
                continue
            for pattern, path in self.templates:
                slots = re.fullmatch(pattern, asked.path.removeprefix(base.path))
                operation = self.doc["paths"][path].get(wire.method.lower())
                if slots and operation:
                    return path, operation, {k: unquote(v) for k, v in slots.groupdict().items()}
        return None

    def wrong(self, value, *pointer):
        """Return what is wrong with a value by the schema at a place of the document."""
        steps = "/".join(str(one).replace("~", "~0").replace("/", "~1") for one in pointer)
        validator = Draft202012Validator(
            {"$ref": f"urn:doc#/{steps}"}, registry=self.registry, format_checker=CHECKER
        )
        return [
            f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in validator.iter_errors(value)
        ]

    def request(self, wire):
        """Return what a request has that the document does not allow."""
        path, operation, slots = self.found(wire)
        where = ("paths", path, wire.method.lower())
        headers = {name.lower(): value for name, value in wire.request_headers}
        query = dict(parse_qsl(urlsplit(wire.url).query, keep_blank_values=True))
        out = []
        for n, parameter in enumerate(operation["parameters"]):
            name, place = parameter["name"], parameter["in"]
            values = {"query": query, "path": slots, "header": headers}[place]
            key = name.lower() if place == "header" else name
            if key in values:
                wrong = self.wrong(values[key], *where, "parameters", n, "schema")
                out += [f"{place} {name}: {each}" for each in wrong]
            elif parameter["required"]:
                out.append(f"{place} {name}: it is missing")
        if "requestBody" in operation and wire.request_body:
            out += self._body(wire, where)
        elif "requestBody" in operation and operation["requestBody"]["required"]:
            out.append("body: it is missing")
        return out + self._secured(operation, headers)

    def _body(self, wire, where):
        try:
            value = json.loads(wire.request_body)
        except ValueError:
            return ["body: it is no JSON"]
        at = (*where, "requestBody", "content", "application/json", "schema")
        return [f"body {each}" for each in self.wrong(value, *at)]

    def _secured(self, operation, headers):
        """Return what is missing for each security scheme; one scheme is enough."""
        schemes = self.doc["components"].get("securitySchemes", {})
        names = [name for each in operation.get("security", ()) for name in each]
        if not names or any(self._has(schemes[name], headers) for name in names):
            return []
        return ["security: no scheme is used"]

    def _has(self, scheme, headers):
        if scheme["type"] == "http":
            return headers.get("authorization", "").startswith("Bearer ")
        return scheme["name"].lower() in headers

    def response(self, wire):
        """Return what an answer has that the document does not allow."""
        path, operation, _ = self.found(wire)
        status = str(wire.status)
        key = next(
            (k for k in (status, f"{status[0]}XX", "default") if k in operation["responses"]), ""
        )
        if not key:
            return [f"status {status}"]
        content = operation["responses"][key].get("content")
        if content is None:
            return []
        # A type in `+json` is JSON, which is documented.
        usual = "application/json" if wire.media_type.endswith("+json") else ""
        types = (wire.media_type, usual)
        media = next((k for k in types if k in content), "")
        if not media:
            return [f"media type {wire.media_type}"]
        at = ("paths", path, wire.method.lower(), "responses", key, "content", media, "schema")
        try:
            return self.wrong(json.loads(wire.body), *at)
        except ValueError:
            return ["it is no JSON"]
