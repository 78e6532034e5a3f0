"""Kinds about requests that customers sign: arguments, signing, changes, execution."""
