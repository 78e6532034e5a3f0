"""A sandbox bank that the harness tests itself against, and deliberately broken copies of it.

The bank is written by hand from the interface document and never derived from a
contract: an oracle must share no code with what it judges. So nothing here imports
another part of ``assay``, and no check may import from here. The bank is a WSGI
application (:func:`assay.sandbox.app.make_app`) with a control API (``CONTROL.md``). Its
decisions are one :class:`assay.sandbox.policies.Policies` value, and a mutant is such a
value with one wrong decision (:mod:`assay.sandbox.mutants`).

Customers are fictitious and all state lives in memory.
"""

__all__: list[str] = []
