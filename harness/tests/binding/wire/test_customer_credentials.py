"""Credentials of a customer stand where the target file says, or in one place of a request."""

from rows import for_each

from assay.binding.model.spelling import CredentialSpelling
from assay.binding.wire.encode import place_credentials
from assay.history import CredentialPlace

BASIC = ("Authorization", "Basic YW5uOnB3")
USUAL = (("username", "ann"), ("login", "ann"), ("password", "pw"))
BARE = CredentialSpelling()
BOUND = CredentialSpelling(
    basic=True,
    body={"login": "/user/id", "password": "/user/secret"},
    query={"login": "u"},
    headers={"password": "X-Password"},
)


@for_each(
    ("spelling", "place", "headers", "query", "body"),
    [
        (BARE, None, (), (), ()),
        (BARE, CredentialPlace.BASIC, (BASIC,), (), ()),
        (BARE, CredentialPlace.PARAMETERS, USUAL, USUAL, ()),
        (BARE, CredentialPlace.BODY, (), (), tuple((f"/{name}", text) for name, text in USUAL)),
        (
            BOUND,
            None,
            (("X-Password", "pw"), BASIC),
            (("u", "ann"),),
            (("/user/id", "ann"), ("/user/secret", "pw")),
        ),
        (BOUND, CredentialPlace.BASIC, (BASIC,), (), ()),
        (BARE, CredentialPlace.BESIDE, (), USUAL, ()),
        (
            BOUND,
            CredentialPlace.BESIDE,
            (("X-Password", "pw"),),
            (("u", "ann"),),
            (("/user/id", "ann"), ("/user/secret", "pw")),
        ),
        (BOUND, CredentialPlace.PARAMETERS, (("X-Password", "pw"),), (("u", "ann"),), ()),
        (BOUND, CredentialPlace.BODY, (), (), (("/user/id", "ann"), ("/user/secret", "pw"))),
    ],
)
def test_each_place_alone(spelling, place, headers, query, body):
    """One place has nothing in another, and the usual names where the file has none."""
    placed = place_credentials(spelling, place, "ann", "pw")

    assert (headers, query, body) == (placed.headers, placed.query, placed.body)
