//! Answers in gzip, for clients that take it.
//!
//! Streams of events are never compressed: their words would wait in the compressor. What is short is not worth it.
//!
//! The size of a compressed answer can tell a secret that stands in the same answer as text that an attacker chooses (BREACH). No
//! answer holds a token or a key: tokens are shown in headers and cookies, which are not compressed, and keys stay in the
//! environment. Pages of other origins can neither read answers nor send requests with the cookie (`SameSite=Strict`).

use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

/// The shortest answer that is compressed, in bytes.
const SHORTEST: u16 = 1024;

/// Compresses answers that are long enough and are not compressed yet.
pub(crate) fn layer() -> CompressionLayer<impl Predicate> {
    // The default leaves out streams of events and pictures.
    let worth_it = DefaultPredicate::new().and(SizeAbove::new(SHORTEST));
    CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(worth_it)
}
