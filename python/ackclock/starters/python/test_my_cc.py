"""Tests of my-cc: python3 -m unittest."""

import unittest

import ackclock


class Test(unittest.TestCase):
    """Properties that the algorithm must keep while it changes."""

    def test_it_keeps_the_contract(self) -> None:
        """No contract violation is found."""
        self.assertEqual(ackclock.check_cc("my_cc.py:MyCc"), [])

    def test_it_uses_the_link(self) -> None:
        """In competition with CUBIC, most of the link is used."""
        result = ackclock.run("scenario.toml")
        self.assertGreater(result.summary["efficiency"] or 0.0, 0.8)
