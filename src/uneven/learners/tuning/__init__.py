"""What UnevenClassifierCV needs: grids, splits, paths of fits, and rules for choosing among them."""
