"""Makes the mutations, and the client whose traffic is recorded, importable for the tests here."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "traffic"):
    sys.path.insert(0, str(folder))
