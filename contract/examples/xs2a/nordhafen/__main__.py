"""Serves the bank on this machine: `python contract/examples/xs2a/nordhafen [PORT] [--fault NAME]`."""

import argparse
import sys
from pathlib import Path

from waitress import create_server

sys.path.insert(0, str(Path(__file__).parents[1]))

from nordhafen.application import Bank
from nordhafen.faults import FAULTS
from nordhafen.policy import Policy


def main() -> None:
    """Serve until interrupted."""
    faults = {fault.name: fault.policy for fault in FAULTS}
    parser = argparse.ArgumentParser(prog="nordhafen", description="Serves the bank.")
    parser.add_argument("port", type=int, nargs="?", default=8781, help="default: 8781")
    parser.add_argument("--fault", choices=sorted(faults), metavar="NAME", help="see faults.py")
    asked = parser.parse_args()
    policy = faults[asked.fault] if asked.fault else Policy()
    server = create_server(Bank(policy=policy), host="127.0.0.1", port=asked.port, threads=8)
    print(f"Nordhafen Bank: http://127.0.0.1:{server.effective_port}", flush=True)  # noqa: T201
    try:
        server.run()
    except KeyboardInterrupt:
        server.close()


if __name__ == "__main__":
    main()
