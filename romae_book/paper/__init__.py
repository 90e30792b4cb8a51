"""What the paper says, subject by subject, and how ours compares."""
