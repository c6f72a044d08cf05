"""What lies over the picture: the memory, made visible."""
