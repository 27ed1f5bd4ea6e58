"""Pages that a command writes: one HTML file each, which loads nothing from elsewhere."""
