"""The command line: commands, exit codes, the summary on a terminal."""
