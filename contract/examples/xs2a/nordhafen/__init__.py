"""Nordhafen Bank: a sandbox that speaks the interface of `document.md`."""
