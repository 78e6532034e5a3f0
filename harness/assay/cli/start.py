"""Entry point of the console script: an interruption while modules are loaded ends it at once.

Loading takes some tenths of a second. An exception during an import would leave a
traceback, or be lost. Nothing is written before a command begins, so there is nothing to finish.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import cast

#: The exit code of a program that SIGINT ends, as shells have it.
INTERRUPTED = 130

#: How many new objects there are before the young ones are looked through, and so on.
COLLECTED_AFTER = (50_000, 20, 20)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


@contextmanager
def loading() -> Generator[None]:
    """End the process at SIGINT, without a word, as long as modules are loaded."""
    before = signal.getsignal(signal.SIGINT)
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def collect_rarely() -> None:
    """Collect garbage again, but seldom: modules are left out, and cycles are few."""
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
    gc.enable()


def main() -> None:
    """Load the command line and run it."""
    gc.disable()  # what is loaded stays: to look through it for garbage is a waste
    # httpx loads a command line of its own, with Rich and Pygments, if they are installed.
    sys.modules["httpx._main"] = cast("ModuleType", None)
    with loading():
        from assay.cli import main as command_line  # noqa: PLC0415 -- guarded
    command_line.main()
