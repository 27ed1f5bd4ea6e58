"""What must be believed of a certificate: rules, steps, claims, document and checker. No search, no loss, no float."""
