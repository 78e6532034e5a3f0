"""The fixtures of the holdout bank, whose back office is called in this process."""

from io import BytesIO
from urllib.parse import urlsplit
from urllib.request import Request

from holdout import adapter
from holdout.bank import Bank
from werkzeug.test import Client

__all__ = ["LaboratoryFixtures", "new_bank"]

#: The bank of the present trial.
_present: list[Bank] = []
LaboratoryFixtures = adapter.LaboratoryFixtures


def new_bank(_url: str) -> Bank:
    """Return a sound bank, which the fixtures call from now on."""
    _present[:] = [Bank()]
    return _present[0]


def _opened(request: Request, timeout: float):
    """Answer a request to the back office."""
    path = urlsplit(request.full_url).path
    answer = Client(_present[0]).open(
        path, method=request.get_method(), data=request.data, content_type="application/json"
    )
    assert 200 == answer.status_code
    return BytesIO(answer.data)


adapter.urlopen = _opened
