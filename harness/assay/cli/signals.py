"""Interruptions: a process ends at once while it loads modules, and later as at Ctrl-C.

Loading takes some tenths of a second. An exception during an import would leave a traceback, or be
lost. Nothing is written before a command begins, so there is nothing to finish. A run that a
pipeline cancels by SIGTERM ends as it does at Ctrl-C. Python loses an exception that a signal
raises in a finalizer. So the signal is remembered, and `check` raises the exception again.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

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
    """Collect garbage again, but seldom: modules are left out, and cycles are few.

    A process that collects already has more than modules; what is garbage there would be kept.
    """
    if gc.isenabled():
        return
    gc.freeze()
    gc.set_threshold(*COLLECTED_AFTER)
    gc.enable()


_received = threading.Event()


def check() -> None:
    """Raise `KeyboardInterrupt` if a SIGTERM came and nothing has ended since."""
    if _received.is_set():
        raise KeyboardInterrupt


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    _received.set()
    raise KeyboardInterrupt


@contextmanager
def terminable() -> Generator[None]:
    """Raise `KeyboardInterrupt` at SIGTERM, where Python can: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        _received.clear()
