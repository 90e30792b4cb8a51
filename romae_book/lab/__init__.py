"""Plan, run, record and summarise: `planned`, `run`, `campaign`, `records`, `runs`, `summary`."""
