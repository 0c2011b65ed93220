//! Real agents.

pub(crate) const TESTS: [(&str, fn()); 0] = [];
