"""Days from today are days of the bank: by its clock, which a trial moves, and in its zone."""

from datetime import date, timedelta

from embedded import run_plan

from assay.preparation.prepare import prepare
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND

TARGET = """\
assay: 1
target: days
extends: sandbox
headers: {X-Day: "{today}", X-Until: "until {today+1}"}
"""


def test_days_follow_the_clock_of_the_bank(tmp_path):
    """After the clock was moved to the next day, today is that day."""
    file, days = tmp_path / "days.yaml", []
    file.write_text(TARGET)
    prepared = prepare(["aisp"], str(file), keywords="batch-quota and next-day")

    def bank(base):
        app = make_app(SOUND, base)

        def recording(environ, start_response):
            if "HTTP_X_DAY" in environ:
                days.append((environ["HTTP_X_DAY"], environ["HTTP_X_UNTIL"]))
            return app(environ, start_response)

        return recording

    result = run_plan(prepared.plan, prepared.target, bank)
    assert {Standing.CONFORMS} == {verdict.standing for verdict in result.verdicts}
    first, *_, last = dict.fromkeys(date.fromisoformat(day) for day, _ in days)
    assert last > first
    assert all(f"until {date.fromisoformat(day) + timedelta(1)}" == until for day, until in days)
