"""Guess of `error` in a target file: where the refusals of a document have their errors.

A list of objects with a code comes first, then a code at the top of the body. Nothing is written
where no rule of the contracts names a code or a field of errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from assay.binding.contract_names import ContractNames
from assay.contract.model import Contract, Json
from assay.history import ERROR_CODE
from assay.init.name_matching import called
from assay.init.openapi_operations import OpenApiOperation
from assay.init.openapi_schemas import EACH, SchemaLeaf
from assay.init.yaml_writer import YamlEntry

#: The names of codes in the errors of a body: problem details (RFC 9457) have a `type`.
_CODES = (("code",), ("error", "code"), ("type",))


def error(contracts: Sequence[Contract], offers: Iterable[OpenApiOperation]) -> Iterator[YamlEntry]:
    """Yield where most refusals of the document have their errors, if a rule asks for it."""
    names = ContractNames(contracts=contracts)
    if not names.codes | names.error_fields:
        return
    shapes = Counter(offered.refusal for offered in offers if offered.refusal)
    for shape, _ in shapes.most_common(1):
        below = [*_located(shape, names.error_fields - {ERROR_CODE})]
        if any(entry.key == ERROR_CODE for entry in below):
            yield YamlEntry(key="error", below=tuple(below))


def _located(shape: Sequence[SchemaLeaf], fields: Collection[str]) -> Iterator[YamlEntry]:
    """Yield the keys for the errors of one shape."""
    why = "the error responses in the document"
    lists = [leaf for leaf in shape if leaf.kind == "array" and EACH not in leaf.steps]
    for steps in [*((*leaf.steps, EACH) for leaf in lists), ()]:
        inside = [part for leaf in shape if (part := leaf.below(steps)) is not None]
        code = _code(inside)
        if code is None:
            continue
        if steps:
            place = SchemaLeaf(steps=steps[:-1]).pointer
            yield YamlEntry(key="list", value=place, why=why)
        yield YamlEntry(key=ERROR_CODE, value=code.pointer, why=why)
        found = {name: called(name, inside) for name in sorted(fields)}
        pointers: dict[str, Json] = {name: leaf.pointer for name, leaf in found.items() if leaf}
        if pointers:
            yield YamlEntry(key="fields", value=pointers, why=why)
        return


def _code(inside: Sequence[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the code of an error: a member of its own, not one further below."""
    own = [leaf for leaf in inside if len(leaf.steps) == 1 and leaf.kind not in {"object", "array"}]
    by_name = {leaf.words: leaf for leaf in reversed(own)}
    return next((by_name[name] for name in _CODES if name in by_name), None)
