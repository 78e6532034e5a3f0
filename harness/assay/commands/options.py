"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def contracts(command: F) -> F:
    """Add `--contract`."""
    return click.option(
        "-c",
        "--contract",
        "contracts",
        multiple=True,
        metavar="NAME|FILE",
        help="A shipped contract (aisp) or a file; may be given again. Default: all shipped.",
    )(command)


def target(command: F) -> F:
    """Add `--target`."""
    return click.option(
        "-t",
        "--target",
        metavar="FILE|URL|NAME",
        help="A target file, the URL of a served sandbox, or a shipped target. "
        "Default: the embedded sandbox.",
    )(command)


def selection(command: F) -> F:
    """Add `-k` and `-m`."""
    command = click.option(
        "-m",
        "marks",
        default="",
        metavar="EXPR",
        help="Only obligations with these markers: rule kind, contract, level.",
    )(command)
    return click.option(
        "-k",
        "keywords",
        default="",
        metavar="EXPR",
        help="Only obligations whose id contains these words; as in pytest.",
    )(command)
