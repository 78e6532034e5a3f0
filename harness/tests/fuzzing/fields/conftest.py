"""Import paths of these tests, among them that of a laboratory that is no bank."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "elsewhere")]
