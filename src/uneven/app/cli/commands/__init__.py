"""One file per command; the command has the name of its file. What it needs is imported when it runs."""
