import sys; sys.path.insert(0,"/work/wt-G/harness/bench")
import growth, cProfile, pstats, tempfile
from pathlib import Path
from assay.contexts.covering import Depth
from assay.planning.prepare import prepare
def calls(n):
    d=Path(tempfile.mkdtemp()); growth.write(d,n)
    p=cProfile.Profile(); p.enable(); x=prepare([str(d/"contract.yaml")],str(d/"target.yaml"),contexts=Depth.EACH); x.plan.calls; x.contexts.coverage; p.disable()
    return pstats.Stats(p).total_calls
calls(1); a=calls(3); b=calls(12); print(a,b,b/a)
