"""Operations on encoded KV. Each folder holds one operation and its plain twin, which is the specification and the CPU path.

Layout of a group of n numbers in 4 bits: byte i holds number i in its low half and number i + ceil(n / 2) in its high half, so that
both halves unpack to contiguous runs.
"""
