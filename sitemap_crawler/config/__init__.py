"""Options of a run: their model, the sources of their values, and the checks of paths and credentials."""
