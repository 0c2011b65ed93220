//! Damaged routing vectors.

use prowess_routing::semantic::read_for_fuzzing;

/// Reads the bytes as stored vectors. Checks that nothing panics and that nothing is read past the end.
pub fn route_vectors(bytes: &[u8]) {
    read_for_fuzzing(bytes);
}
