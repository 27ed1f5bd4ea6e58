"""Rows that nobody holds at once: where they come from, what is asked of each part, and one fit for all of them."""
