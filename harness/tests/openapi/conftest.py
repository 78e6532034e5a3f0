"""Puts the words of these tests within their reach, and the laboratory's service."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "elsewhere")]
