"""What a program or an estimator gets wrong about costs: checks with a code, a proof and a remedy each."""
