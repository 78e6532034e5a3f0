"""Where things happen: sending, recording, driving probes, and judging them.

The only package besides `target` that knows httpx, and the only one with effects.
"""
