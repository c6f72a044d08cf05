"""From keys and mouse to actions."""
