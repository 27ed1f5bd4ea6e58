"""Certificates: the document, its reader, and the checker. Nothing here searches for a proof, nor uses a float."""
