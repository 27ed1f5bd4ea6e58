"""The search for a proof. Nothing here need be believed: the checker confirms what is found."""
