"""What the page shows, computed: plain data in, plain data out."""
