//! Whether a skill that shares words with a message answers it at all.
//!
//! A score says which of several skills is best, not whether any is right: "good morning" is covered well by whatever has
//! both words. How likely the first one is right was fitted on labelled messages and small talk (`bench-routing calibrate`):
//! it takes the score, and how much the words that say something are worth altogether.

/// A skill that is less likely right than this does not fit: nothing is activated for it.
pub const FITS: f32 = 0.4;

/// How likely a skill that comes first is right: by its score, what the words are worth that its name and description
/// share with the message, and what those are worth that only its instructions share.
pub(super) fn confidence([score, described, instructed]: [f32; 3]) -> f32 {
    let evidence = 0.078 * score + 1.674 * (described + 0.5 * instructed).max(0.0).ln_1p() - 5.024;
    1.0 / (1.0 + (-evidence).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_is_more_likely() {
        assert!(confidence([0.0, 0.0, 0.0]) < 0.01);
        assert!(confidence([10.0, 3.0, 0.0]) < FITS);
        assert!(confidence([15.0, 20.0, 10.0]) > 0.7);
        assert!(confidence([15.0, 10.0, 0.0]) > confidence([15.0, 0.0, 10.0]));
    }
}
