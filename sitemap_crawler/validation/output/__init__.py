"""The forms in which a validation report is written, one module each. Each yields lines or one document."""
