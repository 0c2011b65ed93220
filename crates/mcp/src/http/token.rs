//! A secret that clients show.

use axum::http::{HeaderMap, header};

use super::HttpError;

/// A secret that clients show. It is never printed.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Takes a text for a token: at least 16 characters, none of them blank.
    pub fn new(text: &str) -> Result<Self, HttpError> {
        let is_plain = text.chars().all(|c| c.is_ascii_graphic());
        match is_plain && text.len() >= 16 {
            true => Ok(Self(prowess::digest(text.as_bytes()))),
            false => Err(HttpError::Token),
        }
    }

    /// Whether a text is it. How long that takes says nothing about the token.
    ///
    /// ```
    /// let token = prowess_mcp::http::Token::new("0123456789abcdef").unwrap();
    /// assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeg"));
    /// ```
    pub fn is(&self, text: &str) -> bool {
        let shown = prowess::digest(text.as_bytes());
        let differences = self.0.bytes().zip(shown.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        differences == 0 && shown.len() == self.0.len()
    }

    /// Whether a request shows it.
    pub(super) fn is_shown(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let shown = shown.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        self.is(shown.unwrap_or_default())
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_token_is_shown_or_not() {
        let token = Token::new("0123456789abcdef").unwrap();
        let shown = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))]);
            token.is_shown(&headers)
        };
        assert!(shown("Bearer 0123456789abcdef") && shown("bearer  0123456789abcdef"));
        assert!(!shown("Bearer 0123456789abcdeg") && !shown("0123456789abcdef") && !shown("Bearer "));
        assert!(!token.is_shown(&HeaderMap::new()));
        assert!(Token::new("short").is_err() && Token::new("0123456789 abcdef").is_err());
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
