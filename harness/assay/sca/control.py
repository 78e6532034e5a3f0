"""Signer that uses the control API: a decision without screens.

It shows nothing of the screens: which factors they offer, how long they wait, where
they redirect.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.binding.encode import Access
from assay.binding.target import Sca
from assay.errors import CannotArrange
from assay.fixtures.protocol import Fixture
from assay.history import Authorise, Decision, Ending, Wire
from assay.sca.protocol import NOW, AnyReturnAddress, ScreenFlowResult, Wait, require_plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSigner(AnyReturnAddress):
    """Asks the fixture of a trial to sign."""

    sca: Sca
    fixture: Fixture

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Sign or refuse at once."""
        require_plain(step)
        factor = step.factor or next(iter([*self.sca.factors, *access.codes]), None)
        if factor is None:
            what = "a factor to sign with (set `sca.factors` in the target file)"
            raise CannotArrange(what, key=("sca", "factors"))
        accepted = self.fixture.sign(step, access, self.sca.factors.get(factor, factor))
        confirmed = step.decision is Decision.CONFIRM
        signed = Ending.CONFIRMED if confirmed else Ending.REFUSED
        return ScreenFlowResult(
            ending=signed if accepted else Ending.STOPPED,
            wire=Wire(method="SIGN", url=step.approval or ""),
            moments=[wait(NOW)],
            why="" if accepted else "the control API did not accept the signature",
        )
