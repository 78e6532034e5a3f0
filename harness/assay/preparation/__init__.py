"""From files to a plan: target files and files of banks, dry runs, feasibility and cost."""
