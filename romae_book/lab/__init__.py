"""How a run is made and kept: plans, runs, records, means with their intervals."""
