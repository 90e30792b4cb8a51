"""Pages that are made of records when the book is built."""
