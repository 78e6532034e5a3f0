"""SIGTERM handling: a run that a pipeline cancels ends as it does at Ctrl-C.

Python loses an exception that a signal raises in a finalizer. So the signal is remembered, and
`check` raises the exception again.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

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
