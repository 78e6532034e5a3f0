"""Sandboxes that the doctor's tests change or put something before, with their target file."""

import json
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

from assay.onboarding.doctor import examination
from assay.running.environment import set_up
from assay.sandbox.app import make_app
from assay.sandbox.dialects import DIALECTS
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving

BANK = (Path(__file__).parents[1] / "onboarding" / "doctor" / "bank.yaml").read_text(
    encoding="utf-8"
)
#: What is put before an application.
Wrap = Callable[..., object]


@contextmanager
def bank(folder: Path, wrap: Wrap = lambda app: app, text: str = BANK):
    """Serve a bank behind something, write the target file for it, and yield its path and the URL."""
    speaks = DIALECTS["stet"] if "extends: stet" in text else lambda app: app
    with serving(wrap(speaks(make_app()))) as url:
        path = folder / "bank.yaml"
        path.write_text(text.replace("URL", url), encoding="utf-8")
        yield str(path), url


def rewritten(change: Callable[[object], object]) -> Wrap:
    """Change the bodies of the bank's own answers."""

    def wrap(app):
        def answer(environ, start):
            head: list[object] = []
            body = b"".join(app(environ, lambda *said: head.extend(said)))
            if not environ["PATH_INFO"].startswith("/assay-control/") and body.startswith(b"{"):
                body = json.dumps(change(json.loads(body))).encode()
            headers = [pair for pair in head[1] if pair[0].lower() != "content-length"]
            start(head[0], headers)
            return [body]

        return answer

    return wrap


def embed(monkeypatch, change) -> None:
    """Examine the embedded sandbox with changed policies."""

    def made(target, ledger=None):
        return set_up(target, bank=lambda url: make_app(change(SOUND), base_url=url))

    monkeypatch.setattr(examination, "set_up", made)
