"""Sound: what the world and its memory sound like, made by arithmetic; a device only if there is one."""
