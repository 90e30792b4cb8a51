"""The page: interactive figures, matplotlib figures, tables, the scoreboard, what notebooks share."""
