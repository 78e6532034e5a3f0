"""The laboratory on the wire: the service that guide.md describes, in plain WSGI.

At its side stands a control API in the shape of assay-control/1, whose words are those of
its first user, a bank: a payment is a slip there, a creditor a physician on file, and its
IBAN the physician's number. Nothing here knows of the harness.
"""

import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import parse_qs

from laboratory import (
    ASKED,
    BOOKED,
    QUEUED,
    STANDARD,
    ZONE,
    Laboratory,
    Patient,
    RefusedError,
    Slip,
    Tube,
    World,
)

START = datetime(2026, 3, 4, 9, 40, tzinfo=ZONE)
CONTROL = "/assay-control/1/"


class Service:
    """A WSGI application; `laboratory` is what it follows."""

    def __init__(self, laboratory=None):
        self.lab = laboratory or Laboratory()
        self.worlds = {}
        self.names = 0

    def __call__(self, environ, start_response):
        path, media = environ["PATH_INFO"], "application/json"
        try:
            if path.startswith(CONTROL):
                status, body = self.control(environ, path.removeprefix(CONTROL).split("/"))
            else:
                media = self.lab.media_type()
                status, body = self.answer(environ, path)
        except RefusedError as no:
            status, body = no.args[0], {"verdict": "refused", "because": no.args[1]}
        except Exception as error:  # noqa: BLE001 -- what a fault leads to is the test's matter
            status, body = 500, {"verdict": "broken", "because": repr(error)}
        start_response(f"{status} .", [("Content-Type", media)])
        return [json.dumps(body).encode()]

    def name(self, letter):
        self.names += 1
        return f"{letter}-{self.names:06d}"

    def answer(self, environ, path):
        key = environ.get("HTTP_HILL_KEY", "")
        world = next((one for one in self.worlds.values() if key in one.keys), None)
        if world is None:
            raise RefusedError(403, "this key opens nothing")
        desk = Desk(lab=self.lab, world=world, who=world.keys[key], name=self.name, environ=environ)
        does = {
            ("GET", "/tray/tubes"): desk.tubes,
            ("POST", "/tray/tubes/search"): desk.search,
            ("POST", "/tray/slips"): desk.place,
            ("GET", "/tray/slips"): desk.look,
            ("PATCH", "/tray/slips"): desk.amend,
            ("POST", "/tray/slips/void"): desk.void,
        }.get((environ["REQUEST_METHOD"], path))
        if does is None:
            raise RefusedError(410, "there is no such tray")
        return does()

    # -- the control API -----------------------------------------------------------------
    def control(self, environ, steps):
        content = read(environ)
        body = json.loads(content) if content else {}
        if steps == ["worlds"]:
            return self.open(body)
        if len(steps) == 2:
            del self.worlds[steps[1]]
            return 200, {}
        _, world, *rest = steps
        errand = Errand(lab=self.lab, world=self.worlds[world], name=self.name, body=body)
        match rest:
            case ["payments", no, what]:
                return (errand.sign if what == "sign" else errand.withdraw)(no)
            case ["customers", who, "creditors"]:
                return errand.file(who)
            case [what]:
                return getattr(errand, what)()

    def open(self, body):
        now = START + body["seed"] * timedelta(hours=7, minutes=11)
        world = World(now=now, express=body.get("offers", {}).get("express", True))
        id_ = self.name("w")
        self.worlds[id_] = world
        return 201, {"world": id_, "now": now.isoformat()}


@dataclass(kw_only=True)
class Errand:
    """One call of the control API, in one world."""

    lab: Laboratory
    world: World
    name: object
    body: dict

    def clock(self):
        self.world.now = datetime.fromisoformat(self.body["to"]).astimezone(ZONE)
        self.lab.morning(self.world)
        return 200, {"now": self.world.now.isoformat()}

    def customers(self):
        if self.body.get("segment") not in (None, "A", "M"):
            raise RefusedError(422, "there are no such patients")
        patient = Patient(id=self.name("p"), minor=self.body.get("segment") == "M")
        key = self.name("key")
        self.world.keys[key] = patient
        holdings = [
            self.tube(patient, one) for one in self.body["holdings"] for _ in range(one["count"])
        ]
        now = self.world.now.isoformat()
        return 201, {"customer": patient.id, "token": key, "holdings": holdings, "now": now}

    def tube(self, patient, holding):
        spoilt = holding["traits"].get("spoilt", False)
        findings = [(self.name("f"), date.fromisoformat(day)) for day in holding.get("entries", ())]
        tube = Tube(code=self.name("t"), spoilt=spoilt, found=findings)
        patient.tubes.append(tube)
        return {
            "resource": "specimen",
            "key": tube.code,
            "traits": {"spoilt": True} if spoilt else {},
            "entries": [{"key": ref, "date": day.isoformat()} for ref, day in findings],
        }

    def tpps(self):
        key = self.name("key")
        self.world.keys[key] = self.name("practice")
        return 201, {"token": key}

    def file(self, who):
        since = datetime.fromisoformat(self.body["registered"])
        patient = next(one for one in self.world.patients if one.id == who)
        patient.physicians[self.body["iban"]] = since
        return 201, {}

    def executions(self):
        done = [
            {"payment": no, "date": day.isoformat(), "ml": one["ml"], "doctor": one["doctor"]}
            for no, day, one in self.world.analysed
        ]
        return 200, {"executions": done}

    def sign(self, no):
        slip = self.world.slips[no]
        if slip.stage != ASKED or slip.patient.id != self.body["customer"]:
            raise RefusedError(409, "it cannot be approved so")
        if self.body["factor"] not in (None, "P", "C"):
            raise RefusedError(422, "there is no such way to approve")
        slip.card = self.body["factor"] == "C"
        confirmed = self.body["decision"] == "confirm"
        (self.lab.approved if confirmed else self.lab.declined)(slip, self.world)
        return 200, {}

    def withdraw(self, no):
        slip = self.world.slips[no]
        if slip.stage not in (ASKED, QUEUED):
            raise RefusedError(409, "it cannot be withdrawn any more")
        self.lab.withdrawn(slip)
        return 200, {}


@dataclass(kw_only=True)
class Desk:
    """One call of the interface, by a patient's application or by a practice."""

    lab: Laboratory
    world: World
    who: object
    name: object
    environ: dict

    # -- what was sent -------------------------------------------------------------------
    @property
    def query(self):
        return {name: one[0] for name, one in parse_qs(self.environ["QUERY_STRING"]).items()}

    @property
    def body(self):
        try:
            body = json.loads(read(self.environ))
        except (ValueError, RecursionError):
            body = self.lab.unreadable("this is no JSON")
        if not isinstance(body, dict):
            raise RefusedError(400, "this is no JSON object")
        return body

    @property
    def patient(self):
        if not isinstance(self.who, Patient):
            raise RefusedError(403, "this is for patients")
        return self.who

    @property
    def practice(self):
        if isinstance(self.who, Patient):
            raise RefusedError(403, "this is for practices")
        return self.who

    @property
    def start(self):
        start = self.query.get("from", "0")
        if not start.isascii() or not start.isdigit() or len(start) > len("999999"):
            raise RefusedError(400, "from: no such place")
        return int(start)

    def header(self, name):
        return self.environ.get(f"HTTP_HILL_{name}")

    # -- specimens and findings ------------------------------------------------------------
    def tubes(self):
        start, tubes = self.start, self.lab.listed(self.patient)
        self.count("tubes")
        rows, next_start = self.lab.page(tubes, start, self.lab.tubes_a_page)
        listed = {"rows": [{"tag": {"code": one.code}} for one in rows]}
        if next_start is not None:
            listed["more"] = f"?from={next_start}"
        return 200, {"verdict": "done", "tubes": listed}

    def search(self):
        code = self.query.get("tube") or text(self.body, "tube", "tag", "code")
        tube = next((one for one in self.patient.tubes if one.code == code), None)
        if tube is None:
            raise RefusedError(200, "no such tube here")
        start, every = self.start, self.lab.findings(tube, self.world.today)
        self.count("findings")
        rows, next_start = self.lab.page(every, start, self.lab.findings_a_page)
        findings = [
            {"ref": ref, "measured": {"at": f"{day}T08:00", "in": self.unit(ref)}}
            for ref, day in rows
        ]
        further = (
            {}
            if next_start is None
            else {"further": {"from": f"search?tube={code}&from={next_start}"}}
        )
        return 200, {"verdict": "done", "found": findings, **further}

    def unit(self, ref):
        return self.lab.units[int(ref[-1]) % len(self.lab.units)]

    def count(self, method):
        slot, now, calls = self.lab.counted(self.patient, method), self.world.now, self.world.calls
        used = sum(one == slot and self.lab.of_this_hour(at, now) for one, at in calls)
        if used >= self.lab.an_hour:
            raise RefusedError(200, "enough for this hour")
        calls.append((slot, now))

    # -- orders ----------------------------------------------------------------------------
    def place(self):
        practice, body, track = self.practice, self.body, self.header("TRACK") or STANDARD
        code = text(body, "slip", "tube", "tag", "code")
        wanted = {
            "tube": code,
            "panel": value(body, "slip", "wanted", "panel"),
            "ml": value(body, "slip", "wanted", "ml"),
            "doctor": value(body, "slip", "doctor", "no"),
            "shift": value(body, "slip", "shift"),
            "form": value(body, "meta", "form"),
            "day": day_of(value(body, "slip", "collect", "on")) if track == BOOKED else None,
        }
        if self.lab.collective(body) or not self.lab.accepts(wanted):
            raise RefusedError(422, "the slip is not filled in as it must be")
        if track == BOOKED and wanted["day"] <= self.world.today:
            raise RefusedError(422, "collect.on: a day to come")
        patient = self.owner(code)
        if not self.lab.offered(track, self.world) or not self.lab.served(patient):
            raise RefusedError(422, "not so, or not for this patient")
        no = self.name("s")
        slip = Slip(no=no, practice=practice, patient=patient, track=track, wanted=wanted)
        self.world.slips[no] = slip
        self.lab.placed(slip, self.world)
        return 202, self.told(slip)

    def owner(self, code):
        for patient in self.world.patients:
            for tube in patient.tubes:
                if tube.code == code and self.lab.usable(tube):
                    return patient
        raise RefusedError(422, "no such tube, or it is spoilt")

    def told(self, slip):
        return {"verdict": "done", "slip": self.lab.shown(slip)}

    def slip(self, no):
        slip = self.world.slips.get(no)
        if slip is None or not self.lab.sees(self.practice, slip):
            self.lab.unknown()
        return slip

    def look(self):
        return 200, self.told(self.slip(self.query.get("no")))

    def amend(self):
        body, slip, today = self.body, self.slip(self.header("SLIP")), self.world.today
        day = value(body, "collect", "on")
        changes = {
            "ml": value(body, "wanted", "ml"),
            "doctor": value(body, "doctor", "no"),
            "day": None if day is None else day_of(day),
        }
        changes = {name: one for name, one in changes.items() if one is not None}
        if not changes or not self.lab.amendable(slip, today):
            raise RefusedError(409, "it cannot be amended so")
        if (
            not self.lab.accepts({**slip.wanted, **changes})
            or changes.get("day", date.max) <= today
        ):
            raise RefusedError(422, "it cannot be amended to that")
        self.lab.amended(slip, changes)
        return 200, self.told(slip)

    def void(self):
        slip = self.slip(text(self.body, "no"))
        if not self.lab.voidable(slip):
            raise RefusedError(409, "it cannot be revoked any more")
        self.lab.voided(slip)
        return 200, self.told(slip)


def read(environ):
    """Read the body of a call."""
    return environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))


def value(body, *steps):
    """Return what stands somewhere in a body; None where there is nothing."""
    for step in steps:
        body = body.get(step) if isinstance(body, dict) else None
    return body


def text(body, *steps):
    """Return a text that must be there."""
    text = value(body, *steps)
    if not isinstance(text, str):
        raise RefusedError(400, f"{'.'.join(steps)}: a text")
    return text


def day_of(text):
    """Read a day."""
    try:
        return date.fromisoformat(text)
    except (TypeError, ValueError):
        raise RefusedError(422, "collect.on: a day") from None
