"""First and second derivatives of the losses of all rows, for boosted trees."""
