"""A small real bank, to be judged, and to be broken on purpose.

Written by hand from the document of the interface, never interpreted from a contract:
an oracle must share no code with what it judges. So nothing here imports another part
of ``assay``, and no check may import from here. The bank is a WSGI application
(:func:`assay.sandbox.app.make_app`) with a control API (``CONTROL.md``); what it
decides is a :class:`assay.sandbox.policies.Policies` value, and a mutant is such a
value with one wrong decision (:mod:`assay.sandbox.mutants`).

Not for money, and not for load: customers are fictive and state lives in memory.
"""

__all__: list[str] = []
