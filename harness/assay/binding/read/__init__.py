"""From the data of a target file to its values, joined with contracts, and what does not fit."""
