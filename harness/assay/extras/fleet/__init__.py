"""Fleets: one template of a target file, run at many banks on a Dask cluster.

A task is one shard of one contract at one bank. Its inputs are names, paths and numbers; the
worker reads the files and its environment itself, so no secret is part of a task.
"""
