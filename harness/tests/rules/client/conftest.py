"""Puts the builders of literal histories within reach of the tests below them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
