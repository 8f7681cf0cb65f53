"""The league: all algorithms over all suites, with the same random draws, as a static site and as data.

`docs/how-to/league.md` explains the pages.
"""
