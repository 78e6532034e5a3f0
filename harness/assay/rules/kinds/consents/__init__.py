"""Kinds about consents: their scope, effect, history and end."""
