"""Pure functions that read one response: what it says, where it leads, and whether it wants to be listed."""
