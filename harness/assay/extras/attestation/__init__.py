"""Evidence that can be checked: a journal is judged again and compared, and signed."""
