"""A subject as small as can be: copy this folder to romae_lite/ under a name of its own, and begin from there."""
