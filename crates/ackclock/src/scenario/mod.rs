//! Scenario files: schema, validation, canonical hash, and the compilation to a `Plan`.
