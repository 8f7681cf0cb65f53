"""Papers as data: a folder each, with `paper.toml`, `claims.toml`, scenarios and printed tables."""
