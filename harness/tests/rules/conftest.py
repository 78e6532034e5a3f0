"""Lets the tests below import the data modules next to this file."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
