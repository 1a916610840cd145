"""Pure functions that read one response: its content, its links, its robots directives and its canonical."""
