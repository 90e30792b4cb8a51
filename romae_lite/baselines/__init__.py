"""What the numbers are measured against: the best possible predictors, and classical ones."""
