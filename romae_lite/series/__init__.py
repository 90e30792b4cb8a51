"""Your own series: tables to tokens, and estimators on top."""
