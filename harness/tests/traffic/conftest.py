"""Puts the clients whose traffic is judged within reach of the tests beside them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
