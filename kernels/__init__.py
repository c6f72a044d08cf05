"""Operations on encoded KV. Each folder holds one operation and its plain twin, which is the specification and the CPU path.

A group of n numbers is coded in 4 bits each, asymmetrically: number = low + code * step with code 0..15, ``low`` and ``step`` in bfloat16.
Byte i of a group holds code i in its low half and code i + ceil(n / 2) in its high half, so that both halves unpack to contiguous runs.

All tensors are logically [A, B, group, I, J] with any strides, groups along the middle axis, which step and low leave out. Keys grouped
along tokens are [layers, token groups, tokens, heads, channels]; values grouped along channels are [layers, tokens, channels, heads,
channel groups], a permutation that costs nothing.
"""
