"""A contract of one's own: nothing that is usual of banks is written into its target file."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.main import group
from assay.files.load import load
from assay.preparation.prepare import prepare

CONTRACT = """\
assay: 1
contract: lockers
title: Parcel lockers
version: "1"
interface: lockers
document: Parcel lockers, a guide for shops
zone: unspecified
resources:
  parcel: {says: a parcel, key: parcelId, fields: [parcelId]}
  event: {says: what happened to a parcel, of: parcel}
  booking: {says: a box that is booked, key: bookingId, fields: [bookingId, size, status]}
operations:
  parcels: {method: GET, path: /parcels, lists: [parcel], arguments: [Client-Version]}
  events:
    method: GET
    path: /parcels/{parcelId}/events
    lists: [event]
    about: parcelId
    since: from
    until: to
    arguments: [Client-Version]
  book:
    method: POST
    path: /bookings
    makes: booking
    signed: false
    arguments: [Client-Version, size]
  show: {method: GET, path: "/bookings/{bookingId}", shows: booking, about: bookingId}
rules:
  - {id: parcels.read, kind: available, operation: parcels, says: Parcels are listed., source: {section: Read, line: 1}}
  - {id: bookings.made, kind: available, operation: book, says: A box is booked., source: {section: Book, line: 2}}
"""
DOCUMENT = """\
openapi: 3.0.3
info: {title: Lockers, version: "1"}
servers: [{url: "https://lockers.example/v1"}]
components:
  parameters:
    Version: {name: Client-Version, in: header, required: true, schema: {type: string}, example: 2.0.1}
  schemas:
    Booking:
      type: object
      properties:
        bookingId: {type: string}
        size: {type: string}
        status: {type: string, enum: [BOOKED, STORED, COLLECTED, CANCELLED]}
paths:
  /parcels:
    get:
      parameters: [{$ref: "#/components/parameters/Version"}]
      responses: {"200": {description: "", content: {application/json: {schema: {type: object, properties: {parcels: {type: array, items: {type: object, properties: {parcelId: {type: string}}}}}}}}}}
  /parcels/{parcelId}/events:
    get:
      parameters:
        - {$ref: "#/components/parameters/Version"}
        - {name: from, in: query, schema: {type: string, format: date}}
        - {name: to, in: query, schema: {type: string, format: date}}
      responses: {"200": {description: "", content: {application/json: {schema: {type: object, properties: {events: {type: array, items: {type: object, properties: {eventId: {type: string}, happenedOn: {type: string, format: date}}}}}}}}}}
  /bookings:
    post:
      parameters: [{$ref: "#/components/parameters/Version"}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {size: {type: string}}}}}}
      responses: {"201": {description: "", content: {application/json: {schema: {$ref: "#/components/schemas/Booking"}}}}}
  /bookings/{bookingId}:
    get:
      responses: {"200": {description: "", content: {application/json: {schema: {$ref: "#/components/schemas/Booking"}}}}}
"""


def draft(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> tuple[str, str]:
    """Draft a target file for the contract; return its text and what was printed."""
    monkeypatch.chdir(folder)
    Path("lockers.yaml").write_text(CONTRACT)
    Path("openapi.yaml").write_text(DOCUMENT)
    arguments = ["init", "--yes", "--contract", "lockers.yaml", "--out", "bank.yaml", *options]
    result = CliRunner().invoke(group, arguments)
    assert 0 == result.exit_code, result.output
    return Path("bank.yaml").read_text(), result.output


@pytest.mark.parametrize("document", [(), ("--openapi", "openapi.yaml")], ids=["bare", "openapi"])
def test_nothing_of_banks_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: tuple[str, ...]
) -> None:
    """Neither a dialect of banks, nor their header, zone, consents, signatures or IBANs."""
    text, _ = draft(tmp_path, monkeypatch, *document)
    for word in ("extends", "stet", "PSU-IP-Address", "FR76", "approval", "sca", "zone: Europe"):
        assert word not in text.replace("for example `zone: Europe/Paris`", ""), word
    data = load(Path("bank.yaml")).data
    assert ["psu"] == data["fixtures"]["offers"]
    assert "zone" not in data


def test_the_next_commands_need_no_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file names the contract by its path, relative to the file."""
    _, output = draft(tmp_path, monkeypatch)
    assert ["./lockers.yaml"] == load(Path("bank.yaml")).data["contracts"]
    assert "assay plan --target bank.yaml" in output
    monkeypatch.setenv("BANK_ALICE_TOKEN", "t")
    assert {"lockers"} == set(prepare((), "bank.yaml").plan.contracts)
    result = CliRunner().invoke(group, ["check", "bank.yaml"])
    assert 0 == result.exit_code, result.output


def test_the_contract_may_be_in_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path begins at the target file."""
    (tmp_path / "targets").mkdir()
    monkeypatch.chdir(tmp_path)
    Path("lockers.yaml").write_text(CONTRACT)
    arguments = ["init", "-y", "--contract", "lockers.yaml", "--out", "targets/bank.yaml"]
    assert 0 == CliRunner().invoke(group, arguments).exit_code
    assert ["../lockers.yaml"] == load(Path("targets/bank.yaml")).data["contracts"]
    assert 0 == CliRunner().invoke(group, ["check", "targets/bank.yaml"]).exit_code


def test_what_a_document_says_of_each_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example of a header, and the only date; words of states that are not known are named."""
    text, output = draft(tmp_path, monkeypatch, "--openapi", "openapi.yaml")
    operations = load(Path("bank.yaml")).data["operations"]
    header = {"header": "Client-Version", "value": "2.0.1"}
    for name in ("parcels", "events", "book"):
        assert header == operations[name]["arguments"]["Client-Version"], name
    assert "/happenedOn" == operations["events"]["item"]["on"]
    assert "which of BOOKED, STORED, COLLECTED are open, done, rejected or ended" in output
    assert "# guessed: the document's example" in text


def test_a_call_that_lacks_a_value_is_a_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a call that only reads: without the header it cannot be made."""
    monkeypatch.setattr(f"{__name__}.DOCUMENT", DOCUMENT.replace(", example: 2.0.1", ""))
    _, output = draft(tmp_path, monkeypatch, "--openapi", "openapi.yaml")
    assert 3 == output.count("the Client-Version of an ordinary request")
