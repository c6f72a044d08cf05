"""The picture: when each frame is due, and who draws it."""
