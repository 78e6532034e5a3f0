"""One operation for two that a target spells with one method and one path.

Whoever calls it means one of them, by what the body holds: so it takes what either takes,
and answers what either answers.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.openapi.shapes import Schema, either

JSON = "application/json"


def both(one: Schema, other: Schema) -> Schema:
    """Return one operation for two that a target spells alike."""
    says = dict.fromkeys((one["summary"], other["summary"]))
    out = {**one, "summary": " ".join(says)}
    out["parameters"] = _parameters(one["parameters"], other["parameters"])
    bodies = [each["requestBody"] for each in (one, other) if "requestBody" in each]
    if bodies:
        schemas = (each["content"][JSON]["schema"] for each in bodies)
        required = len(bodies) > 1 and all(each["required"] for each in bodies)
        out["requestBody"] = {
            "required": required,
            "content": {JSON: {"schema": either(schemas)}},
        }
    out["responses"] = _responses(one["responses"], other["responses"])
    for key, value in other.items():
        if key == "tags" or (key.startswith("x-") and isinstance(value, list)):
            here = out.get(key, [])
            out[key] = [*here, *(each for each in value if each not in here)]
        elif key == "security" and value != out.get(key):
            out[key] = [*out.get(key, []), *value]
    if "x-assay-available" in out and "x-assay-available" not in other:
        del out["x-assay-available"]
    return out


def _parameters(one: Iterable[Schema], other: Iterable[Schema]) -> list[Schema]:
    """Join parameters; one that only one of two operations has need not be there."""
    mine, theirs = ({(each["in"], each["name"]): each for each in every} for every in (one, other))
    out: list[Schema] = []
    for key in dict.fromkeys((*mine, *theirs)):
        each = [every[key] for every in (mine, theirs) if key in every]
        out.append(
            {
                **each[0],
                "required": len(each) > 1 and all(parameter["required"] for parameter in each),
                "schema": either(parameter["schema"] for parameter in each),
            }
        )
    return out


def _responses(one: Schema, other: Schema) -> Schema:
    out = dict(one)
    for status, response in other.items():
        out[status] = _response(one[status], response) if status in one else response
    return dict(sorted(out.items()))


def _response(one: Schema, other: Schema) -> Schema:
    outcomes = list(
        dict.fromkeys((*one.get("x-assay-outcomes", ()), *other.get("x-assay-outcomes", ())))
    )
    says = " ".join(dict.fromkeys((one["description"], other["description"])))
    out: Schema = {"description": says, "x-assay-outcomes": outcomes}
    if "content" in one and "content" in other:
        out["content"] = {
            media: {
                "schema": either(
                    each["content"][media]["schema"]
                    for each in (one, other)
                    if media in each["content"]
                )
            }
            for media in dict.fromkeys((*one["content"], *other["content"]))
        }
    if "links" in one or "links" in other:
        out["links"] = {**one.get("links", {}), **other.get("links", {})}
    return out
