"""Standard streams that can always be written to, and remember what could not be written.

A reader may close a pipe, a disk may be full, a stream may be closed from the start, and a
terminal may not have every character. A command must not fail halfway because of that: what
cannot be written is discarded, and the exit code says so at the end.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from select import select
from typing import Any, TextIO

#: For characters that the encoding of a stream does not have.
ERRORS = "backslashreplace"


class LossyOutput(io.RawIOBase):
    """A raw stream that discards everything after the first failure, and has it as `error`."""

    def __init__(self, raw: io.RawIOBase) -> None:
        super().__init__()
        self._raw = raw
        self.error: OSError | None = None

    def write(self, data: Any) -> int | None:
        """Write data, or pretend to."""
        count: int | None = len(data)
        if self.error is None:
            try:
                while (count := self._raw.write(data)) is None:
                    select([], [self._raw], [])  # a full pipe that does not block
            except OSError as error:
                self.error = error
        return len(data) if self.error else count

    def writable(self) -> bool:
        """Return true: nothing is refused."""
        return True

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._raw.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._raw.fileno()


class SafeOutput:
    """Standard output or standard error, as a text stream that does not fail."""

    def __init__(self, stream: TextIO | None) -> None:
        # The stream that is replaced is kept: it would be closed with its last reference.
        self.replaced = stream
        self.stream = stream if stream is not None else _discarding()
        self._lossy: LossyOutput | None = None
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)
        if isinstance(self.stream, io.TextIOWrapper) and isinstance(raw, io.RawIOBase):
            self._lossy = LossyOutput(raw)
            self.stream = io.TextIOWrapper(
                io.BufferedWriter(self._lossy),
                encoding=self.stream.encoding,
                errors=ERRORS,
                line_buffering=self.stream.line_buffering,
                write_through=self.stream.write_through,
            )
        elif isinstance(self.stream, io.TextIOWrapper):
            self.stream.reconfigure(errors=ERRORS)

    def flush(self) -> OSError | None:
        """Write what is left; return the first failure of all writes."""
        self.stream.flush()
        return self._lossy.error if self._lossy is not None else None

    def end(self) -> None:
        """Write what is left, and close what was opened in place of a closed stream."""
        self.flush()
        if self.replaced is None:
            self.stream.close()


def _discarding() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 -- open to the end


@contextmanager
def safe_streams() -> Generator[tuple[SafeOutput, SafeOutput]]:
    """Replace the standard streams by some that do not fail; yield output and errors."""
    with ExitStack() as stack:
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] -- it was closed
            # A file that is opened later must not take its place.
            sys.stdin = stack.enter_context(open(os.devnull, encoding="utf-8"))  # noqa: PTH123
        out, err = SafeOutput(sys.stdout), SafeOutput(sys.stderr)
        stack.enter_context(redirect_stdout(out.stream))
        stack.enter_context(redirect_stderr(err.stream))
        try:
            yield out, err
        finally:
            out.end()
            err.end()
