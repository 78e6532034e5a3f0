"""Names of trials in further contexts: written when a context is planned, read by reports."""

from __future__ import annotations

from collections.abc import Iterable


def contextual_name(trial: str, values: Iterable[str]) -> str:
    """Return the name of a trial in the context of these values, such as `mode=instant`."""
    return f"{trial} [{', '.join(values)}]"


def split_trial_name(name: str) -> tuple[str, str]:
    """Return the trial without its context, and the context, which is empty in the base context."""
    trial, _, context = name.partition(" [")
    return trial, context.removesuffix("]")
