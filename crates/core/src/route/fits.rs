//! Whether a skill that shares words with a message answers it at all.

/// A skill that is less likely right than this does not fit: nothing is activated for it.
pub const FITS: f32 = 0.5;

const MIDDLE: f32 = 9.0;
const SLOPE: f32 = 0.8;

/// How likely a skill of this score, come first, is right.
pub(super) fn confidence(score: f32) -> f32 {
    1.0 / (1.0 + (-SLOPE * (score - MIDDLE)).exp())
}
