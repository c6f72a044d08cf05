"""The memory, large beside the picture: for demos and for whoever wants to see how it works."""
