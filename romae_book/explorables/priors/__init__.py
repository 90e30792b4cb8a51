"""A model that fills any one-dimensional series without training: it was trained on draws from priors."""
