"""Quantise and pack: asymmetric 4-bit groups with a float16 step and minimum each (KIVI's scheme, WorldPager III.A)."""

from worldpager.kernels.int4_pack.reference import pack

__all__ = ["pack"]
