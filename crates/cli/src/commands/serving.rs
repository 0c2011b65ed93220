//! What servers have in common: the token that clients show.

use std::path::Path;

use prowess_mcp::http::Token;

use crate::failure::Failure;
use crate::output::clean_path;

/// The longest token file.
const TOKEN_MAX: u64 = 4096;

/// What to do where others could reach a server that knows nobody.
pub(super) const OPEN: &str = "set PROWESS_TOKEN or --token-file, or serve at 127.0.0.1";

/// The token in a file, or else in a variable.
pub(super) fn token(file: Option<&Path>, variable: Option<&str>) -> Result<Option<Token>, Failure> {
    let text = match file {
        Some(file) => {
            let bytes = prowess::read_bounded(file, TOKEN_MAX).ok_or_else(|| {
                Failure::call(format!("the token cannot be read from {}", clean_path(file)))
            })?;
            Some(String::from_utf8_lossy(&bytes).trim().to_owned())
        }
        None => variable.and_then(|name| std::env::var(name).ok()).filter(|token| !token.is_empty()),
    };
    let made = text.map(|text| Token::new(&text)).transpose();
    made.map_err(|error| Failure::call(error.to_string()).hint("make one: openssl rand -hex 32"))
}
