"""Literal HAR files: a few calls with their answers, as a recorder writes them."""

import json

from assay.rules.verdict import Standing
from assay.traffic.session import open_recording


def entry(at, method, url, status, body, *, token="token-1", sent=None, headers=(), answered=()):
    """Return one call and its answer, at a time."""
    own = {"Authorization": f"Bearer {token}"} if token else {}
    request = {
        "method": method,
        "url": url,
        "headers": _records({**own, **dict(headers)}),
        "queryString": [],
        "bodySize": len(json.dumps(sent)) if sent is not None else 0,
    }
    if sent is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(sent)}
    text = "" if body is None else json.dumps(body)
    content = {"mimeType": "application/json", "text": text, "size": len(text)}
    response = {
        "status": status,
        "headers": _records({"Content-Type": "application/json", **dict(answered)}),
        "content": content,
    }
    return {"startedDateTime": at, "time": 5, "request": request, "response": response}


def _records(headers):
    return [{"name": name, "value": value} for name, value in headers.items()]


def write(path, entries):
    """Write entries as a file."""
    log = {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": entries}
    path.write_text(json.dumps({"log": log}), encoding="utf-8")
    return path


def standings(path, entries, **options):
    """Return the standing of each obligation in a recording."""
    recording = open_recording(write(path, entries), **options)
    journal = path.with_name(f"{len([*path.parent.iterdir()])}.jsonl")
    return {each.obligation: each.standing for each in recording.close(journal).verdicts}


def violated(path, entries, **options):
    """Return the obligations that a recording violates."""
    found = standings(path, entries, **options)
    return {name for name, each in found.items() if each is Standing.VIOLATES}
