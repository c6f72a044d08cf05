"""Start pictures that ship with the program; `recipe` made them."""
