"""Report formats: a module each, with a function `render`, and what build servers need."""
