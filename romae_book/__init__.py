"""The book's own package: what is run, what the paper says of it, and what the pages show."""
