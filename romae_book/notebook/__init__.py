"""What the chapters import: parameters, figures, tables, live plots."""
