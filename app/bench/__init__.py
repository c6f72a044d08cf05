"""Measurements of the window; each runs as ``python -m worldpager.app.bench.NAME``."""
