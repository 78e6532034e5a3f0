"""Messages to a person who signs, which the output capturing of pytest does not hide."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import pytest

from assay.sca.protocol import StderrPrompt


@dataclass(frozen=True, slots=True)
class UncapturedPrompt(StderrPrompt):
    """A prompt that pytest's output capturing does not hide."""

    config: pytest.Config

    def show(self, text: str) -> None:
        """Write a text on a new line, since pytest has begun one."""
        manager: Any = self.config.pluginmanager.getplugin("capturemanager")
        with manager.global_and_fixture_disabled() if manager else nullcontext():
            StderrPrompt.show(self, f"\n{text}")
