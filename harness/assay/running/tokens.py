"""Tokens of one trial: those of TPPs and customers, and those of single consents and requests.

A token of a fixture or of the target file is sent as it is. An OAuth token comes from the token
store; for it, the customer may have to go through the bank's screens.

Where a target file has parameters of an authorization request (`approval`), the customer authorises
what an operation made at the authorization server, and the code is exchanged at once. A customer's call
has the token of the consent that it uses: the one that it names, or the last that was made. Until
a consent is authorised, the TPP has no token but its own, and calls with that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta, timezone
from typing import Final

from assay.binding.model.request_parts import RequestParts
from assay.binding.model.security import (
    AUTHORIZE,
    Auth,
    AuthKind,
    CredentialOf,
    FurtherCredential,
    authorizes,
    shown_token,
)
from assay.binding.model.spelling import Place
from assay.binding.wire.encode import Access, CallAccess
from assay.binding.wire.values import filled
from assay.contract.model import Capability, Operation
from assay.errors import CannotArrange
from assay.fixtures.providers import Customers, customers_of
from assay.history import (
    Authorise,
    Authorised,
    Call,
    CredentialPlace,
    Decision,
    Ending,
    Exchange,
    Outcome,
    Rejected,
    Renew,
    Renewed,
    Token,
    Wire,
)
from assay.judging.corrections import UNAUTHORIZED, rejected_token
from assay.planning.remedies import REMEDIES
from assay.rules.consents import consented_keys, last_day
from assay.rules.state.calendar import local_day
from assay.running.trial_state import CallValues, TrialState
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.auth.oauth import MARGIN, Grant, Parameters, redirect_parameters
from assay.transport.auth.tokens import TokenRequest, TokenStore
from assay.transport.protocol import sendable

__all__ = ["UNAUTHENTICATED_TPP", "TrialTokens", "sendable_access"]

#: What a call of the TPP needs where nothing provides its token.
UNAUTHENTICATED_TPP: Final = (
    "a token of the TPP (`auth.tpp` in the target file; `kind: none` if it needs none)"
)
#: The longest token that is sent, in characters: HTTP servers refuse larger headers, whoever calls.
MAX_TOKEN: Final = 8192
#: How long after a request was made its authorization cannot be late.
_PROMPT: Final = timedelta(minutes=1)
#: The error with which a bank rejects a request by a rule, as it does a refusal of the customer.
_REJECTED: Final = "access_denied"
#: The zone in which a day ends last, for a bank whose zone is not known.
_LATEST: Final = timezone(timedelta(hours=-12))


def sendable_access(access: Access) -> Access:
    """Return credentials whose token fits into a header.

    Raises:
        CannotArrange: it is too long.

    """
    if access.token and len(access.token) > MAX_TOKEN:
        what = f"a token of at most {MAX_TOKEN} characters, not one of {len(access.token)}"
        raise CannotArrange(f"{what}: servers refuse such a header", key=("auth",))
    return access


@dataclass(slots=True)
class TrialTokens:
    """The tokens of one trial."""

    trial: TrialState
    values: CallValues
    #: The credentials of each TPP.
    tpps: dict[str, Access] = field(default_factory=dict[str, Access])
    #: The tokens of consents and requests, by key.
    grants: dict[str, Grant] = field(default_factory=dict[str, Grant])
    #: All tokens that were ever granted so, and those of them that expired, and were sent all the same.
    issued: set[str] = field(default_factory=set[str])
    outlived: set[str] = field(default_factory=set[str])
    #: When the tokens of fixtures began to last, by the party and its name.
    begun: dict[tuple[bool, str], datetime] = field(
        default_factory=dict[tuple[bool, str], datetime]
    )

    # -- of a call ---------------------------------------------------------------------
    def credentials(self, call: Call, operation: Operation) -> Access:
        """Return the credentials of a call, with a valid token.

        Raises:
            CannotArrange: there is no way to get such a token.
            AuthenticationError: the token endpoint does not issue one.

        """
        access = sendable_access(self._credentials(call, operation))
        auth = self.trial.target.auth.of(by_tpp=operation.by_tpp)
        access = self._lasting(call, access, auth, by_tpp=operation.by_tpp)
        further = tuple(self._further(each, call, access) for each in auth.further)
        if further:
            own = {each.name: getattr(access, each.name) for each in fields(Access)}
            access = CallAccess(**own, further=further)
        tokenless = call.credentials or call.bearer is Token.NONE
        if auth.kind is AuthKind.NONE or access.token or tokenless:
            return access
        # Without it, the bank's refusal would say nothing of any rule.
        if operation.by_tpp:
            raise CannotArrange(UNAUTHENTICATED_TPP, key=("auth", "tpp"))
        what = f"a token of the customer {call.subject} (`auth` and `fixtures` in the target file)"
        raise CannotArrange(what, key=("auth",))

    def _credentials(self, call: Call, operation: Operation) -> Access:
        access = self.trial.access.get(call.subject, self.trial.environment.common)
        party, key = operation.by_tpp, ("operations", operation.id, "modes", call.mode or "")
        store = self._store(by_tpp=party)
        if party:
            # The customer's credentials may be sent; the customer's token never is.
            tpp = self.third_party(call.by)
            access = replace(access, token=self._at_its_host(call, tpp))
            # A further TPP that the file lists has a token, and no client to request one for.
            store = None if call.by and tpp.token and not tpp.client_id else store
        if call.by and not party and store is None:
            access = replace(access, token=self._token_for(call, access))
        elif not party and store is None:
            access = replace(access, token=self._at_its_host(call, access))
        if call.credentials_in is CredentialPlace.GRANT:
            return self._by_password(call, access, store, by_tpp=party)
        if store is None and self._scope(call) is not None:
            raise CannotArrange(f"a token endpoint for {'.'.join(key)} (`auth`)", key=key)
        if store is None or call.credentials:
            return access
        if not self._are_of_consents(operation):
            token = store.token(self.request(call, access, by_tpp=party))
            self._keep(call, token, by_tpp=party)
            return replace(access, token=token)
        if self._scope(call) is not None:
            what = f"a token whose scope {'.'.join(key)} can replace"
            raise CannotArrange(f"{what}; this one belongs to a consent", key=key)
        if call.bearer is Token.NONE:
            return replace(access, token=None)
        return replace(access, token=self._consent_token(call, operation, access))

    def _at_its_host(self, call: Call, access: Access) -> str | None:
        """Return a token for the host of a call: where hosts have tokens of their own, its own."""
        target = self.trial.target
        base = target.base_url
        if call.bank is not None:
            base = target.banks[call.bank].base_url
        elif call.host is not None:
            base = target.hosts[call.host]
        return access.tokens.get(base, access.token)

    def _by_password(
        self, call: Call, access: Access, store: TokenStore | None, *, by_tpp: bool
    ) -> Access:
        """Return the token for a customer's password, if one is issued; a dry run asks for none."""
        if self.trial.target.auth.of(by_tpp=by_tpp).oauth is None:
            raise CannotArrange("a token endpoint (`auth` in the target file)", key=("auth",))
        if store is None:
            return access
        return replace(access, token=store.for_password(self.request(call, access, by_tpp=by_tpp)))

    def _lasting(self, call: Call, access: Access, auth: Auth, *, by_tpp: bool) -> Access:
        """Return credentials whose token a fixture has renewed if it no longer lasts.

        Raises:
            CannotArrange: the fixture does not renew it.

        """
        if not auth.expires_in or not access.token or self._store(by_tpp=by_tpp) is not None:
            return access
        now, owner = self.trial.look(), (by_tpp, call.by if by_tpp else call.subject)
        lasts = timedelta(seconds=auth.expires_in)
        begun = self.begun.setdefault(owner, now)
        if begun <= now < begun + lasts - min(MARGIN, lasts / 10):
            return access
        former = self.third_party(call.by) if by_tpp else access
        renewed = sendable_access(self.trial.fixture.renew(former, by_tpp=by_tpp))
        if renewed.token:
            self._keep(call, renewed.token, by_tpp=by_tpp)
        self.begun[owner] = now
        return replace(access, token=renewed.token)

    def _further(self, credential: FurtherCredential, call: Call, access: Access) -> str:
        """Return a credential that stands beside the token of a call, and keep it out of records.

        Raises:
            CannotArrange: there is none.
            AuthenticationError: the token endpoint does not issue it.

        """
        if credential.env is not None:
            return self.trial.environment.variables[credential.env]
        customer = self.trial.access.get(call.subject, self.trial.environment.common)
        match credential.of:
            case None:
                tpp = self.third_party(call.by) if call.by else self.tpps.get("", Access())
                value = {**customer.secrets, **tpp.secrets}.get(credential.secret)
            case CredentialOf.TPP:
                value = self._of_tpp(call, access)
            case CredentialOf.CUSTOMER:
                store = self._store(by_tpp=False)
                request = self.request(call, customer, by_tpp=False)
                value = store.token(request) if store else customer.token
            case CredentialOf.LOGIN:
                value = customer.login
            case _:
                value = customer.id
        if not value or len(value) > MAX_TOKEN or not sendable(value):
            of = f"of: {credential.of.value}" if credential.of else f"secret: {credential.secret}"
            what = f"the credential `{of}` of a call of {call.operation} (auth.further)"
            raise CannotArrange(what, key=("auth", "further"))
        self.trial.environment.secrets.add(value, "credential")
        return value

    def _store(self, *, by_tpp: bool) -> TokenStore | None:
        """Return the store, if it issues the tokens of a party."""
        store = self.trial.environment.token_store
        return store if store is not None and store.issues(by_tpp=by_tpp) else None

    def _token_for(self, call: Call, access: Access) -> str:
        """Return a customer's token for the further TPP that makes a call.

        With the usual token, the bank would take the call for one of the usual TPP.

        Raises:
            CannotArrange: there is no such token.

        """
        tpp = self.third_party(call.by).id or call.by
        if tpp not in access.tokens:
            where = f"fixtures.roles.{access.id or '…'}.token_envs.{tpp}, or `tokens` of an Access in Python"
            what = f"a token of the customer {call.subject} for the TPP {tpp} ({where})"
            raise CannotArrange(what)
        return access.tokens[tpp]

    def _keep(self, step: Call | Renew, token: str, *, by_tpp: bool) -> None:
        """Keep a token with its party, so that it is redacted in the journal."""
        if by_tpp:
            self.tpps[step.by] = replace(self.third_party(step.by), token=token)
        elif step.subject in self.trial.access:
            access = self.trial.access[step.subject]
            self.trial.access[step.subject] = replace(access, token=token)

    def renew(self, step: Renew) -> Renewed:
        """Renew the token with which an operation is called.

        Raises:
            CannotArrange: neither the target's authentication nor its fixtures renew tokens.
            AuthenticationError: the token endpoint does not issue one.

        """
        operation = self.trial.operations[step.operation]
        party = operation.by_tpp
        access = self.trial.access.get(step.subject, self.trial.environment.common)
        if self._are_of_consents(operation):
            token = self._renewed_of_consent(step, operation)
        elif store := self._store(by_tpp=party):
            token = store.renewed(self.request(step, access, by_tpp=party))
        else:
            former = self.third_party(step.by) if party else access
            token = sendable_access(self.trial.fixture.renew(former, by_tpp=party)).token
        if token is not None:
            self._keep(step, token, by_tpp=party)
        return Renewed(
            subject=step.subject,
            operation=operation.id,
            by=step.by,
            done=token is not None,
            now=self.trial.look(),
        )

    # -- requests for tokens -----------------------------------------------------------
    def request(self, step: Call | Renew, access: Access, *, by_tpp: bool) -> TokenRequest:
        """Return who needs a token, and what it takes to get one.

        A bank that creates customers for each trial may forget its tokens with them.
        """
        trial = self.trial
        created = customers_of(trial.target) is Customers.CREATED
        store, base = trial.environment.token_store, trial.target.base_url
        # What another bank refuses must not be a token that it did not issue. No customer is there.
        if by_tpp and isinstance(step, Call) and step.bank is not None:
            base = trial.target.banks[step.bank].base_url
        elsewhere = store is not None and base != store.target.base_url
        return TokenRequest(
            by_tpp=by_tpp,
            customer=access,
            tpp=lambda: self.third_party(step.by),
            named=bool(step.by),
            now=trial.look(),
            sign_in=lambda link: self._sign_in(link, step.subject, access),
            scope=self._scope(step) if isinstance(step, Call) else None,
            trial=str(trial.name) if created else "",
            base=base if elsewhere else "",
        )

    def _scope(self, call: Call) -> str | None:
        """Return the scope of the token for a call, where its mode says so."""
        mode = self.trial.binding(call.operation).modes.get(call.mode or "")
        return str(mode.value) if mode is not None and mode.place is Place.SCOPE else None

    def _sign_in(self, link: str, subject: str, access: Access) -> ScreenFlowResult:
        """Take a customer through the screens on which access is granted."""
        # Of a real customer, the code of only one factor may be known.
        factor = next(iter(access.codes)) if len(access.codes) == 1 else None
        step = Authorise(subject=subject, request="", approval=link, factor=factor)
        return self.trial.signer.sign(step, access, self.trial.wait)

    def third_party(self, name: str) -> Access:
        """Return the credentials of a TPP, which is created when it is first needed."""
        environment = self.trial.environment
        if name not in self.tpps:
            fixtures = environment.target.fixtures
            offered = Capability.TPPS in fixtures.offers
            if name and not offered:
                raise CannotArrange(str(REMEDIES[Capability.TPPS]))
            if name:
                # The second TPP is second at the bank too, whoever calls first.
                self.third_party("")
            common = environment.party or environment.common
            # Listed customers have a usual TPP, and the file lists the further ones.
            given = offered and (bool(name) or not fixtures.tpps)
            self.tpps[name] = sendable_access(self.trial.fixture.tpp()) if given else common
        return self.tpps[name]

    # -- of a consent ------------------------------------------------------------------
    def _are_of_consents(self, operation: Operation) -> bool:
        """Whether calls of an operation have the token of a consent."""
        issued = not operation.by_tpp and self._store(by_tpp=False) is not None
        return issued and authorizes(self.trial.target.operations)

    def authorised(self, step: Authorise, access: Access) -> ScreenFlowResult | None:
        """Have the customer authorise what a step names; None where that is signed under a link.

        A refusal leaves it without a token. So does an authorization that the bank may stop: one that is
        late, repeated, or not the customer's plain consent.

        Raises:
            CannotArrange: there is no signer for the screens.
            AuthenticationError: a plain consent led to no token.

        """
        trial, made = self.trial, self.trial.making(step.request)
        if made is None or (store := trial.environment.token_store) is None:
            return None
        binding = trial.binding(made.call.operation)
        if binding.authorize is None:
            return None
        flows: list[ScreenFlowResult] = []

        def sign_in(link: str) -> ScreenFlowResult:
            flows.append(trial.signer.sign(replace(step, approval=link), access, trial.wait))
            return flows[-1]

        call = replace(made.call, consent=step.request)
        written = replace(binding, template=binding.authorize)
        values = self.values.of(call, replace(trial.target, operations={call.operation: written}))
        parameters = {name: filled(value, values) for name, value in binding.authorize.items()}
        try:
            request = replace(self.request(call, access, by_tpp=False), sign_in=sign_in)
            at = ("operations", call.operation, *AUTHORIZE)
            grant = store.authorised(request, Parameters(at=at, values=parameters))
        except AuthenticationError:
            grants = bool(trial.operations[made.call.operation].grants)
            error = _error(flows[-1]) if flows else ""
            rejected = error == _REJECTED and not grants
            if not flows or (self._is_due(step, made) and not rejected):
                raise
            if grants and error:
                flows[-1].ending = Ending.REFUSED
        else:
            self._grant(step.request, grant)
        return _without_answer(flows[-1])

    def _grant(self, key: str, grant: Grant) -> None:
        """Keep the token of a consent in place of its former one."""
        self.grants[key] = grant
        self.issued.add(grant.token)

    def _is_due(self, step: Authorise, made: Exchange) -> bool:
        """Whether a sound bank cannot but issue a code."""
        trial = self.trial
        plain = (
            step.right
            and step.decision is Decision.CONFIRM
            and not (step.by or step.linger or step.pace)
        )
        first = not any(
            isinstance(event, Authorised) and event.step.request == step.request
            for event in trial.events
        )
        prompt = trial.look() - made.at < _PROMPT
        keys = consented_keys(made.call, trial.operations[made.call.operation])
        own = all(trial.owners.get(key) == step.subject for key in keys)
        return plain and first and prompt and own and not self._is_over(step.request, made)

    def _is_over(self, key: str, made: Exchange) -> bool:
        """Whether the TPP ended a consent, or its last day is over."""
        trial, maker = self.trial, self.trial.operations[made.call.operation]
        for event in trial.exchanges:
            operation = trial.operations[event.call.operation]
            about = str(event.call.arguments.get(operation.about or ""))
            if event.accepted and operation.ends == maker.makes and about == key:
                return True
        until, zone = last_day(made.call, maker), trial.zone(maker.id) or _LATEST
        return until is not None and local_day(trial.look(), zone) > until

    def _consent_token(self, call: Call, operation: Operation, access: Access) -> str | None:
        """Return the token of the consent that a call uses, or the TPP's own where that has none.

        Without any consent, only a call is made that the bank is to refuse for that.

        Raises:
            CannotArrange: no consent was made, or its token has expired.
            AuthenticationError: the token endpoint does not issue one.

        """
        key = self._used(call, operation)
        if key is None and not (operation.consent and call.variation):
            at = self._authorize_key(operation)
            what = f"the token of a consent, and no consent was made ({'.'.join(at)})"
            raise CannotArrange(what, key=at)
        grant = self.grants.get(key or "")
        if key is None or grant is None:
            return self._of_tpp(call, access)
        if not grant.valid(self.trial.look()):
            grant = self._renewed(call, access, key) or self._outlived(key, grant)
        return grant.token

    def _of_tpp(self, call: Call, access: Access) -> str | None:
        """Return the TPP's own token, requested if it is issued; None where nothing provides it."""
        store = self._store(by_tpp=True)
        if store is None:
            return self.third_party(call.by).token
        token = store.token(self.request(call, access, by_tpp=True))
        self._keep(call, token, by_tpp=True)
        return token

    def _renewed_of_consent(self, step: Renew, operation: Operation) -> str | None:
        """Return a new token of the consent that a customer's calls use; None if nothing renews it."""
        access = self.trial.access.get(step.subject, Access())
        call = Call(operation=operation.id, subject=step.subject, by=step.by)
        key = self._used(call, operation)
        grant = self._renewed(call, access, key) if key in self.grants else None
        return grant.token if grant else None

    def _renewed(self, call: Call, access: Access, key: str) -> Grant | None:
        """Renew the token of a consent by its refresh token, as the TPP that made it."""
        store, made = self.trial.environment.token_store, self.trial.making(key)
        by = made.call.by if made else call.by
        request = self.request(replace(call, by=by), access, by_tpp=False)
        grant = store.refreshed(self.grants[key], request) if store else None
        if grant is not None:
            self._grant(key, grant)
        return grant

    def _outlived(self, key: str, grant: Grant) -> Grant:
        """Return an expired token of a consent that is over: what must be refused.

        Raises:
            CannotArrange: the consent may be in force, so that a refusal would show nothing.

        """
        made = self.trial.making(key)
        if made is not None and self._is_over(key, made):
            self.outlived.add(grant.token)
            return grant
        why = "its refresh token was refused" if grant.refresh else "there is no refresh token"
        raise CannotArrange(f"a valid token of the consent: it expired, and {why}", key=("auth",))

    def _used(self, call: Call, operation: Operation) -> str | None:
        """Return the key of the consent or request whose token a call has."""
        if call.consent is not None:
            return call.consent
        makers = [
            each
            for each in self.trial.operations.values()
            if self.trial.binding(each.id).authorize is not None
        ]
        if operation.request and any(each.makes == operation.request for each in makers):
            return str(call.arguments.get(operation.about or ""))
        named = {each.id for each in makers if each.grants}
        if operation.consent:
            named &= {operation.consent}
        return self.values.kept.last_made(call, named)

    def _authorize_key(self, operation: Operation) -> tuple[str, ...]:
        """Return the key of the target file by which a customer would authorise what a call needs."""
        bindings = self.trial.target.operations
        named = [name for name, binding in bindings.items() if binding.authorize is not None]
        maker = operation.consent if operation.consent in named else named[0]
        return "operations", str(maker), *AUTHORIZE

    def lacks(self, request: str, operation: Operation) -> bool:
        """Whether a submission cannot be sent, since its customer has not authorised the request."""
        return self._are_of_consents(operation) and request not in self.grants

    # -- refusals ----------------------------------------------------------------------
    def judged(self, call: Call, operation: Operation, wire: Wire, outcome: Outcome) -> Outcome:
        """Return an outcome by what the token of its call says.

        A refusal of our own token shows nothing, but the token of a consent stands for the consent: a bank
        that no longer knows it refuses that. The scope may be a mistake of the target file, unless the
        operation was called with it before. The refusal of another token than that of a consent in force may
        have the code and status of that.
        """
        target = self.trial.target
        why = rejected_token(operation, wire, target) if call.own_token else None
        auth = target.auth.of(by_tpp=operation.by_tpp)
        store = self._store(by_tpp=operation.by_tpp)
        if why is not None and store is not None and auth.kind is AuthKind.CLIENT:
            store.forget(shown_token(auth, RequestParts.of(wire)))
        if not call.own_token or not self._are_of_consents(operation):
            return why or outcome
        token = shown_token(target.auth, RequestParts.of(wire))
        other = token not in self.issued or token in self.outlived
        enough = any(
            event.accepted and event.call.operation == operation.id and event.call.own_token
            for event in self.trial.exchanges
        )
        if why is not None and not (other or enough or wire.status == UNAUTHORIZED):
            return why
        return replace(outcome, other_token=other) if isinstance(outcome, Rejected) else outcome


def _error(flow: ScreenFlowResult) -> str:
    """Return the error with which the bank answers what the customer confirmed; empty if none."""
    if flow.ending is not Ending.CONFIRMED:
        return ""
    return redirect_parameters(flow.redirected or "").get("error", [""])[0]


def _without_answer(flow: ScreenFlowResult) -> ScreenFlowResult:
    """Return a flow without the answer in its redirect, which has the code or an error."""
    if flow.redirected:
        flow.redirected = flow.redirected.partition("?")[0].partition("#")[0]
    return flow
