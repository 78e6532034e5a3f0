"""A target that returns the same bytes for every request."""

from __future__ import annotations

import json
from pathlib import Path

import httpx

#: In the hours of maintenance hardly anything would be judged.
NOW = "2026-09-16T00:00:00Z"
ROLES = {
    name: {
        "owns": [
            {"resource": resource, "key": f"{name}-{resource}-{n}"}
            for resource in ("account", "card")
            for n in range(3)
        ]
    }
    for name in ("alice", "bob")
}
ALL_IN_ONE = json.dumps(
    {
        "accounts": [{"kind": "account", "iban": "FR7630001007941234567890185"}],
        "balances": [{"iban": "FR7630001007941234567890185", "currency": "EUR"}],
        "transactions": [{"id": "T1", "bookingDate": "2026-09-01", "currency": "EUR"}],
        "PsuIdentity": "Somebody",
        "links": {"self": "/accounts"},
    }
).encode()


def mock(request: httpx.Request) -> httpx.Response:
    """Return the same bytes for every request."""
    return httpx.Response(
        200,
        stream=httpx.ByteStream(ALL_IN_ONE),
        headers={"Content-Type": "application/json"},
    )


def target_file(folder: Path) -> str:
    """Write a target file for a mock, with two listed customers."""
    path = folder / "mock.yaml"
    path.write_text(
        f"""\
assay: 1
target: mock
extends: sandbox
transport: http
base_url: https://mock.example
auth: {{kind: none}}
fixtures: {{kind: roles, offers: [psu, two-psu, consent, roster], roles: {json.dumps(ROLES)}, now: "{NOW}"}}
"""
    )
    return str(path)
