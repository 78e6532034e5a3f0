"""The holdout bank is a package of its own, which is imported as `holdout`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
