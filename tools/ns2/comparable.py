"""What makes a scenario one that cannot be compared."""


class NotComparable(Exception):
    """The scenario holds something that the ns-2 script cannot do."""
