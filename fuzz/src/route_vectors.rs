//! Vectors of routing.

use prowess_routing::semantic::read_for_fuzzing;

/// Bytes are taken for kept vectors: nothing panics, and nothing is read past its end.
pub fn route_vectors(bytes: &[u8]) {
    read_for_fuzzing(bytes);
}
