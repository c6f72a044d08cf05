"""Panels that ask or tell: loading, keys and settings, new world, failure."""
