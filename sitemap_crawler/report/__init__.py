"""The account of a run: outcome, warnings, hints, explanations."""
