"""Calls as requests and answers as outcomes, in the spelling of one target."""
