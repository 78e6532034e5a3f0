"""The proof of the harness: each mutant of the sandbox turns its own facets red, no neutral variant any."""
