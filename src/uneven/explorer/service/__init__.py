"""The server: which requests are answered, by which process, and within which limits."""
