"""The laboratory: what an experiment is, how it is run, what it leaves behind, what the paper claims."""
