"""Makes the bank of the example importable as `nordhafen`."""

import sys
from pathlib import Path

import assay

ROOT = Path(assay.__file__).parents[2]
sys.path.insert(0, str(ROOT / "contract" / "examples" / "xs2a"))
