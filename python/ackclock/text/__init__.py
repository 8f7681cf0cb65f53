"""Text for people: tables that fit a terminal, names made safe to print, hints, the standard streams."""
