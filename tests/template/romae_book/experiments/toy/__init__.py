"""A subject as small as can be: copy it under a name of its own, and begin from there."""
