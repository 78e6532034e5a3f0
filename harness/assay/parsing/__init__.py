"""From the YAML of a contract to its values, and the schemas for editors."""
