"""Kinds about who may call, how often and when: credentials, quotas, segments, windows."""
