"""Contexts: situations in which a rule is tested beside the simplest one.

A dimension is a way in which the situation of a rule can vary without the rule changing; a
context gives some dimensions a value. Contexts change the steps of a probe. They know no
rule, and no rule knows them.
"""
