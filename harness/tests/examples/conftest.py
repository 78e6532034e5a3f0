"""Makes the bank of the example importable as `nordhafen`, and what its tests share."""

import sys
from pathlib import Path

from assay._resources import contract_dir

sys.path.insert(0, str(contract_dir() / "examples" / "xs2a"))
sys.path.insert(0, str(Path(__file__).parent))
