"""Policy that decides which targets are examined before a run."""

from __future__ import annotations

from assay.binding.target import AuthKind, ScaKind, Target, TransportKind


def is_examined(target: Target, name: str | None) -> bool:
    """Whether a target of this name is examined before a run.

    Shipped target files are not, nor targets that are not called over a network, nor those for
    which a person would have to sign in.
    """
    shown = name is None or name.startswith(("http://", "https://"))
    return not shown and target.transport is TransportKind.HTTP and not _asks_a_person(target)


def _asks_a_person(target: Target) -> bool:
    """Whether the examination would ask a person to sign in, as the run does again."""
    auths = (target.auth, *([target.auth.tpp] if target.auth.tpp else []))
    code = any(auth.kind is AuthKind.CODE for auth in auths)
    return code and target.sca.kind is ScaKind.MANUAL
