"""The options of a run: their model, where their values come from, and the paths and credentials they name."""
