"""Unpack 4-bit groups into a view and turn the keys' time channels to their place, each value written once (WorldPager III.E)."""

from worldpager.kernels.int4_unpack_rotate.reference import rotate, unpack

__all__ = ["rotate", "unpack"]
