"""A target file as values: address, credentials, fixtures, signer, operations, waivers.

A target is read without any contract (`preparation.target_file`) and bound to one by `binding.read.join`.
Secrets are names of environment variables, looked up only when a run begins. No I/O here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from assay._resources import contract_dir
from assay.binding.model.bank_document import BankDocument
from assay.binding.model.security import (
    Auth,
    AuthKind,
    Budget,
    ClientAuth,
    OAuth,
    Presence,
    Safety,
    Signature,
    SignatureKind,
    Tls,
    TokenPlace,
)
from assay.binding.model.spelling import (
    CredentialSpelling,
    ErrorAt,
    FieldAt,
    ItemBinding,
    Matcher,
    NextPage,
    OperationBinding,
    Outcomes,
    OutputAt,
    Place,
    ResourceAt,
    Spelling,
    StateAt,
    Turn,
)
from assay.binding.model.submission import SUBMISSION
from assay.contract.model import Capability, Json
from assay.files.document import Document
from assay.history import Entry


# -- The `fixtures` of a target file as values: the provider, what it offers, listed customers ---
# Secrets are names of environment variables. What a kind of fixture provider needs of these keys is
# checked in `fixtures.providers`.
class FixtureKind(Enum):
    """The kind of fixture provider."""

    CONTROL = "control"
    ROLES = "roles"
    PYTHON = "python"
    NONE = "none"


class CustomerSource(Enum):
    """Where a fixture provider of the user's has its customers from."""

    CREATED = "created"
    EXISTING = "existing"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleHolding:
    """One item that a listed customer owns, as stated in the target file.

    `entries` is None when the entries below it are not known.
    """

    resource: str
    key: str
    traits: Mapping[str, Json] = field(default_factory=dict[str, Json])
    entries: tuple[Entry, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRegistration:
    """A value of an argument (a creditor) that a listed customer has on file, and since when."""

    argument: str
    value: Json
    since: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherTpp:
    """A TPP besides that of `auth.tpp`, with the variable of its token."""

    name: str
    token_env: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A test customer that exists at the target: name, variables of secrets, holdings.

    `login_env`, `password_env` and `code_envs` (by factor, in the target's words) name the
    variables of what the customer types in, `token_env` that of its token, and `token_envs` those of
    its tokens for further TPPs, by the TPP; `secret_envs` those of further secrets, by their names in
    `auth.further`. `segment` is in the contract's words. `bank` is the bank of the group whose
    customer it is, by its name in `banks`; empty for the bank of the file.
    `registrations` are all that it has on file, None if that is not known.
    """

    name: str
    owns: tuple[RoleHolding, ...]
    token_env: str | None = None
    segment: str | None = None
    bank: str = ""
    login_env: str | None = None
    password_env: str | None = None
    code_envs: Mapping[str, str] = field(default_factory=dict[str, str])
    token_envs: Mapping[str, str] = field(default_factory=dict[str, str])
    secret_envs: Mapping[str, str] = field(default_factory=dict[str, str])
    registrations: tuple[RoleRegistration, ...] | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleChoice:
    """Which of the listed customers a trial takes: of those that suit it equally well, the first.

    `roles` has their order; `preferred` come before all others that suit at all. `busy` says for how
    many seconds trials before it keep each customer, where they wait for a clock. `uses` says how
    often each item was used before, by its key: the least used suitable item is taken. `taken` are
    the customers that the trial takes, if a dry run has shown it.
    """

    roles: tuple[str, ...] = ()
    preferred: tuple[str, ...] = ()
    busy: Mapping[str, int] = field(default_factory=dict[str, int])
    uses: Mapping[str, int] = field(default_factory=dict[str, int])
    taken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixtures:
    """The fixture provider. `key_env` names the control API's secret, if any.

    `adapter` is the `module:Class` of a fixture provider written in Python, which gets `options`;
    `customers` says whether it creates its customers for each trial.
    `segments` maps the contract's customer segments to the target's words; `effects` points
    into the fixture provider's report of an executed request, by the contract's field names.
    `tpps` are TPPs besides that of `auth.tpp`, for listed customers, and `now` is the time at which
    the clock of their bank stands still, None if it is the real time.
    """

    kind: FixtureKind = FixtureKind.NONE
    url: str | None = None
    key_env: str | None = None
    adapter: str = ""
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    customers: CustomerSource = CustomerSource.EXISTING
    offers: frozenset[Capability] = frozenset()
    roles: tuple[Role, ...] = ()
    tpps: tuple[FurtherTpp, ...] = ()
    now: datetime | None = None
    segments: Mapping[str, str] = field(default_factory=dict[str, str])
    effects: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def own_roles(self) -> tuple[Role, ...]:
        """The listed customers of the bank of the file, without those of other banks of its group."""
        return tuple(role for role in self.roles if not role.bank)


# -- A target file as values: address, credentials, fixtures, signer, operations, waivers ----
__all__ = [
    "AbsentParts",
    "Auth",
    "AuthKind",
    "Budget",
    "ClientAuth",
    "CredentialSpelling",
    "CustomerSource",
    "ErrorAt",
    "FieldAt",
    "FixtureKind",
    "Fixtures",
    "FurtherTpp",
    "GroupBank",
    "ItemBinding",
    "Matcher",
    "NextPage",
    "OAuth",
    "OperationBinding",
    "Outcomes",
    "OutputAt",
    "PageMatcher",
    "Place",
    "Presence",
    "ResourceAt",
    "Role",
    "RoleChoice",
    "RoleHolding",
    "RoleRegistration",
    "Safety",
    "Sca",
    "ScaKind",
    "Signature",
    "SignatureKind",
    "Spelling",
    "StateAt",
    "Target",
    "Tls",
    "TransportKind",
    "Turn",
    "Waiver",
]


#: How many requests a run makes at a live bank, unless the target file says otherwise.
LIVE_REQUESTS = 20


class TransportKind(Enum):
    """How calls reach the target."""

    EMBEDDED = "embedded"
    HTTP = "http"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupBank:
    """Another bank of the target's group, with the modes that it `lacks`.

    `outside` names the scope statements of contracts that exclude it.
    """

    name: str
    base_url: str
    lacks: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


class ScaKind(Enum):
    """The SCA signer: none, a program on the screens, the control API, or a person."""

    NONE = "none"
    FORMS = "forms"
    BROWSER = "browser"
    CONTROL = "control"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMatcher:
    """One way to recognise a page of the screens; every part that is given must match.

    `statuses` are exact codes or classes like "4xx", `text` is shown on the page, `url` stands in
    its address.
    """

    statuses: tuple[str, ...] = ()
    text: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sca:
    """How a request is signed.

    A screen is known by the names of its form's fields: each of `screens` maps names to
    what is filled in: login, password, factor, code or decision; or `continue` for none. `factors` and
    `decisions` map the contract's words to the target's. Where no screen asks for a decision,
    the form that asks for `confirmed_by` confirms, and the customer refuses by the link or button with
    the text `refuse_link` beside it, or, without one, by leaving. `hosts` have only screens: they are
    followed like those of the target, and never called. `disconnected` recognises the page for a
    customer whom the target disconnected. `callback` is the loopback address to which
    a person's browser comes back, `wait` the timeout for that in seconds.
    """

    kind: ScaKind = ScaKind.NONE
    screens: tuple[Mapping[str, str], ...] = ()
    factors: Mapping[str, str] = field(default_factory=dict[str, str])
    decisions: Mapping[str, str] = field(default_factory=dict[str, str])
    confirmed_by: str = ""
    refuse_link: str = ""
    hosts: tuple[str, ...] = ()
    disconnected: tuple[PageMatcher, ...] = ()
    callback: str = ""
    wait: float = 300.0

    @property
    def deciding(self) -> str:
        """What the form asks for with which the customer decides."""
        return self.confirmed_by or "decision"


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A known non-conformity: what is waived, by whom and why, and the last day it is accepted.

    It names either one `obligation`, or a `clause`, with all its facets. An `intermittent`
    non-conformity is not seen in every run.
    """

    owner: str
    reason: str
    expires: str
    obligation: str = ""
    clause: str = ""
    intermittent: bool = False
    line: int = 0

    @property
    def name(self) -> str:
        """The id of the obligation or the clause."""
        return self.obligation or self.clause

    def covers(self, obligation: str) -> bool:
        """Whether it names an obligation, or its clause."""
        return self.name in {obligation, obligation.rpartition("/")[0]}


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentParts:
    """The resources and operations that a bank does not have, by name, each with the reason.

    Of the operations, the consent of those in `given` comes with the customer's token.
    """

    resources: Mapping[str, str] = field(default_factory=dict[str, str])
    operations: Mapping[str, str] = field(default_factory=dict[str, str])
    given: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether anything is absent."""
        return bool(self.resources or self.operations)

    def each(self) -> Iterator[tuple[AbsentParts, str]]:
        """Yield each part alone, with its reason."""
        for name, reason in self.resources.items():
            yield AbsentParts(resources={name: reason}), reason
        for name, reason in self.operations.items():
            yield AbsentParts(operations={name: reason}, given=self.given & {name}), reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A bank's answer to an open point, and where the bank says so.

    `value` names answers that the contract knows, `rules` has parameters of rules that the point
    opens, and `says` is an answer in words, which nothing judges.
    """

    source: str
    value: tuple[str, ...] = ()
    rules: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, Mapping[str, Json]])
    says: str = ""


#: The longest `executes_within`, in seconds, that a run waits for where the clock cannot be moved.
SOON: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A whole target file, which binds the operations of `contracts`.

    `contract_files` has the paths of those that the file names by their files, by id.

    `outside` names the scope statements of a contract that exclude this bank.

    `absent` is what the bank does not have, and `not_offered` maps clause ids to the reason why
    this bank need not offer them. `decided` are its answers to open points, by POINT or CONTRACT/POINT.
    `openapi` is the file with the OpenAPI document that it publishes, and `document_of_bank` what was read from it.
    `hosts` are further base URLs under which it answers, `banks` the others of its group, and
    `nearby` says that all of them are found at the address of the base URL. `dialect` is what an embedded bank speaks,
    "" for its own. Times are in seconds; `executes_within` is how long after its signature a request
    that is due may still be open. `headers` and `queries` stand in
    every call; a value may have placeholders (see `values.filled`). `document`
    is the file itself, with all that it extends, to find lines in.
    """

    name: str
    transport: TransportKind
    base_url: str
    contracts: frozenset[str] = frozenset()
    contract_files: Mapping[str, str] = field(default_factory=dict[str, str])
    environment: str = "sandbox"
    dialect: str = ""
    zone: ZoneInfo | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    queries: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: Auth = field(default_factory=Auth)
    tls: Tls | None = None
    signature: Signature | None = None
    budget: Budget = field(default_factory=Budget)
    safety: Safety = field(default_factory=Safety)
    presence: Presence | None = None
    fixtures: Fixtures = field(default_factory=Fixtures)
    sca: Sca = field(default_factory=Sca)
    hosts: tuple[str, ...] = ()
    banks: tuple[GroupBank, ...] = ()
    nearby: bool = False
    operations: Mapping[str, OperationBinding] = field(default_factory=dict[str, OperationBinding])
    outcomes: Outcomes = field(default_factory=Outcomes)
    error: ErrorAt | None = None
    outside: tuple[str, ...] = ()
    absent: AbsentParts = field(default_factory=AbsentParts)
    not_offered: Mapping[str, str] = field(default_factory=dict[str, str])
    confirmed: Mapping[str, str] = field(default_factory=dict[str, str])
    decided: Mapping[str, Decided] = field(default_factory=dict[str, Decided])
    openapi: Path | None = None
    document_of_bank: BankDocument | None = field(default=None, compare=False, repr=False)
    waivers: tuple[Waiver, ...] = ()
    timeout: float = 10.0
    executes_within: float = 0.0
    path: str = ""
    digest: str = ""
    lines: Mapping[str, int] = field(default_factory=dict[str, int])
    document: Document | None = field(default=None, compare=False, repr=False)

    @property
    def settles_soon(self) -> bool:
        """Whether a run waits after each signature, as the bank executes within seconds and its clock runs."""
        runs = self.fixtures.now is None and Capability.CLOCK not in self.fixtures.offers
        return runs and 0 < self.executes_within <= SOON

    def standing_places(self, *, by_tpp: bool) -> tuple[TokenPlace | Presence, ...]:
        """Return the places of what calls have whatever they ask for: credentials, who is present."""
        marks = (self.presence,) if self.presence else ()
        return (*self.auth.of(by_tpp=by_tpp).credential_places, *marks)

    @property
    def has_keys(self) -> bool:
        """Whether it names certificates or keys."""
        oauth = self.auth.oauth
        return bool(self.tls or self.signature or (oauth and oauth.request_object))

    @property
    def is_live(self) -> bool:
        """Whether it is a live bank, with real money and real customers."""
        return self.environment == "live"

    @property
    def most_requests(self) -> int | None:
        """How many requests a run makes at most, None for any number."""
        return (
            LIVE_REQUESTS if self.safety.requests is None and self.is_live else self.safety.requests
        )

    @property
    def removed_operations(self) -> tuple[str, ...]:
        """The inherited operations that the file removes with null."""
        spots = self.document.spots.at("operations") if self.document else None
        written = spots.below if spots and isinstance(spots.below, Mapping) else ()
        return tuple(name for name in written if name not in self.operations)

    def contract_name(self, contract: str) -> str:
        """Return the path of a contract that the file names by its file, or else its id."""
        return self.contract_files.get(contract, contract)

    @property
    def own_contracts(self) -> tuple[str, ...]:
        """The contracts of a run where none is named: the file's, if all of them can be read."""
        files, folder = self.contract_files, contract_dir()
        if not all(name in files or (folder / f"{name}.yaml").is_file() for name in self.contracts):
            return ()
        return tuple(self.contract_name(contract) for contract in sorted(self.contracts))

    @property
    def base_urls(self) -> tuple[str, ...]:
        """The further base URLs under which calls are made: its hosts, and modes that are banks."""
        modes = (mode for each in self.operations.values() for mode in each.modes.values())
        banks = (str(mode.value) for mode in modes if mode.place is Place.BASE)
        return tuple(dict.fromkeys((*self.hosts, *banks)))

    @property
    def called_urls(self) -> tuple[str, ...]:
        """The same, and the base URLs of the other banks of the group."""
        return (*self.base_urls, *(bank.base_url for bank in self.banks))

    def group_bank(self, name: str, mode: str = "") -> GroupBank | None:
        """Return a bank of the group by its name or by what excludes it, or any that lacks a mode."""
        for bank in self.banks:
            if name in {bank.name, *bank.outside} if name else mode in bank.lacks:
                return bank
        return None

    @property
    def outputs(self) -> Mapping[str, str]:
        """The outputs, each with the operation whose answers have it (the last, of several)."""
        named = {name: id_ for id_, each in self.operations.items() for name in each.outputs}
        submissions = ((id_, each.submission) for id_, each in self.operations.items())
        return named | {
            name: f"{id_}.{SUBMISSION}"
            for id_, each in submissions
            if each
            for name in each.outputs
        }

    def is_of_wider_base(self, *pointer: str | int) -> bool:
        """Whether a key is inherited from a file that Assay includes, or that binds other contracts.

        Such a file says more than the contracts of this one may have, and that has no effect.
        """
        path, _ = self.place(*pointer)
        narrowed = self.place("contracts")[0] == self.path and bool(self.contracts)
        return path != self.path and (narrowed or Path(path).parent == contract_dir() / "targets")

    def place(self, *pointer: str | int) -> tuple[str, int]:
        """Return the file and line of a key, or of its nearest parent that exists."""
        return self.document.place(pointer) if self.document else (self.path, 0)
