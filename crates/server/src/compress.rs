//! Gzip compression of responses, for clients that accept it.
//!
//! Event streams are never compressed, because the compressor would delay events. Short responses are not worth it.
//!
//! The size of a compressed response can leak a secret that is in the same response as text chosen by an attacker (BREACH). No
//! response contains a token or a key: tokens are sent in headers and cookies, which are not compressed, and keys stay in the
//! environment. Pages of other origins can neither read responses nor send requests with the cookie (`SameSite=Strict`).

use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, Predicate, SizeAbove};

/// The minimum size of a compressed response, in bytes.
const SIZE_MIN: u16 = 1024;

/// Returns a layer that compresses responses that are long enough and not compressed yet.
pub(crate) fn layer() -> CompressionLayer<impl Predicate> {
    // The default predicate excludes event streams and images.
    let predicate = DefaultPredicate::new().and(SizeAbove::new(SIZE_MIN));
    CompressionLayer::new().gzip(true).quality(CompressionLevel::Fastest).compress_when(predicate)
}
