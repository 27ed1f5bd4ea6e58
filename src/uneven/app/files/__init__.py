"""Tables as analysts have them: read, understood column by column, and turned into a matrix."""
