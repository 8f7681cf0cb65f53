"""The error of a scenario that ns-2 cannot run."""


class NotComparable(Exception):
    """The scenario holds something that the ns-2 script cannot do."""
