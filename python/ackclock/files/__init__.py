"""Files that users hand in or ask for: read as a whole, checked against a declaration, written as a whole."""
