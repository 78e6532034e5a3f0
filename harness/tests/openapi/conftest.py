"""Makes the modules of these tests importable, and the banks of other tests and of the example."""

import sys
from pathlib import Path

from assay._resources import contract_dir

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "elsewhere")]
sys.path.insert(0, str(contract_dir() / "examples" / "xs2a"))
