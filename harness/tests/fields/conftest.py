"""Puts what these tests share within reach, and the laboratory: fields know no bank."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "elsewhere")]
