"""Operations on encoded KV. Each folder holds one operation and its plain twin, which is the specification and the CPU path.

`record` describes the bytes of a packed block; `pack` makes them, `unpack_rotate` places them in a view, several blocks at once; `dispatch`
says which twin runs.
"""
