"""Serves the bank on this machine: `python contract/examples/xs2a/nordhafen [PORT]`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from nordhafen.application import Bank  # noqa: E402
from waitress import serve  # noqa: E402

if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8781
    print(f"Nordhafen Bank: http://127.0.0.1:{port}", flush=True)  # noqa: T201
    serve(Bank(), host="127.0.0.1", port=port, threads=8)
