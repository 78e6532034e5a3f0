"""A forger of journals, who knows how they are written: chain, counts and digest fit again."""

import hashlib
import json
from collections import Counter

from shipped import bank_of

from assay.journal.lines import ChainWriter, encode_line
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.running.environment import set_up
from assay.running.session import Options, Session, run_session

JOURNAL = "journal.jsonl"
STANDINGS = ("conforms", "violates", "indeterminate", "unverified", "unspecified")


def recorded(folder, variant="", keywords="", **options):
    """Run against a bank, as `assay run` does; return the path of the journal."""
    planned = prepare(options.pop("contracts", ()), keywords=keywords, **options)
    session = Session(
        plan=planned.plan,
        environment=set_up(planned.target, bank=bank_of(variant)),
        journal=Journal.at(folder / JOURNAL),
        options=Options(
            selection={"k": keywords, "m": ""}, invocation={"contracts": [], "target": None}
        ),
    )
    run_session(session)
    return folder / JOURNAL


def lines_of(path):
    """Return the lines of a journal."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def forged(path, lines):
    """Write lines as a journal whose chain, counts, exit code and digest fit them."""
    verdicts = [line for line in lines if line["type"] == "verdict"]
    counts = Counter(line["verdict"] for line in verdicts)
    musts = {line["obligation"] for line in lines if line.get("level") == "must"}
    unsettled = {"indeterminate", "unverified"}
    left = any(line["verdict"] in unsettled and line["obligation"] in musts for line in verdicts)
    footer = lines[-1] | {
        "planned": len(verdicts),
        "counts": {standing: counts[standing] for standing in lines[-1]["counts"]},
        "exit": 1 if counts["violates"] else 3 if left else 0,
    }
    return written(path, [*lines[:-1], footer])


def written(path, lines):
    """Write lines as a journal whose chain and digest fit them."""
    chain, digest, raw = ChainWriter(), hashlib.sha256(), []
    for line in lines:
        record = {key: line[key] for key in line if key not in {"chain", "digest"}}
        if line["type"] == "footer":
            record["digest"] = "sha256:" + digest.hexdigest()
        raw.append(encode_line({**record, "chain": chain.place()}))
        chain.see(raw[-1])
        digest.update(raw[-1])
    path.write_bytes(b"".join(raw))
    return path


def with_verdict(lines, obligation, standing):
    """Return the lines with another verdict, wherever it is written; its evidence fits it."""
    agreement = {"conforms": "agrees", "violates": "disagrees"}.get(standing, "unclear")

    def changed(line):
        if line.get("obligation") != obligation or line["type"] not in {"verdict", "preliminary"}:
            return line
        evidence = [{**each, "agreement": agreement} for each in line["evidence"]]
        return {**line, "verdict": standing, "evidence": evidence}

    return [changed(line) for line in lines]
