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
from assay.sca.protocol import NOW, AnyReturnAddress, ScreenFlowResult, Wait, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlSigner(AnyReturnAddress):
    """Asks the fixture of a trial to sign."""

    sca: Sca
    fixture: Fixture

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Sign or refuse at once."""
        plain(step)
        word = step.factor or next(iter([*self.sca.factors, *access.codes]), None)
        if word is None:
            what = "a factor to sign with (set `sca.factors` in the target file)"
            raise CannotArrange(what, key=("sca", "factors"))
        taken = self.fixture.sign(step, access, self.sca.factors.get(word, word))
        confirmed = step.decision is Decision.CONFIRM
        done = Ending.CONFIRMED if confirmed else Ending.REFUSED
        return ScreenFlowResult(
            ending=done if taken else Ending.STOPPED,
            wire=Wire(method="SIGN", url=step.approval or ""),
            moments=[wait(NOW)],
            why="" if taken else "the control API did not accept the signature",
        )
