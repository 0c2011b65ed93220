//! The access token.

use axum::http::{HeaderMap, header};

use super::ServeHttpError;

/// An access token. It is never printed.
#[derive(Clone)]
pub struct AccessToken(String);

impl AccessToken {
    /// Parses a token: at least 16 visible ASCII characters.
    pub fn parse(text: &str) -> Result<Self, ServeHttpError> {
        let is_plain = text.chars().all(|c| c.is_ascii_graphic());
        match is_plain && text.len() >= 16 {
            true => Ok(Self(prowess::digest(text.as_bytes()))),
            false => Err(ServeHttpError::InvalidToken),
        }
    }

    /// Compares a text with the token in constant time.
    ///
    /// ```
    /// let token = prowess_mcp::http::AccessToken::parse("0123456789abcdef").unwrap();
    /// assert!(token.matches("0123456789abcdef") && !token.matches("0123456789abcdeg"));
    /// ```
    pub fn matches(&self, text: &str) -> bool {
        let digest = prowess::digest(text.as_bytes());
        let differences =
            self.0.bytes().zip(digest.bytes()).fold(0, |difference, (a, b)| difference | (a ^ b));
        differences == 0 && digest.len() == self.0.len()
    }

    /// Returns `true` if a request contains the token.
    pub(super) fn is_in_headers(&self, headers: &HeaderMap) -> bool {
        let presented = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let presented = presented.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
        });
        self.matches(presented.unwrap_or_default())
    }
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_token_is_found_in_headers() {
        let token = AccessToken::parse("0123456789abcdef").unwrap();
        let is_accepted = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))]);
            token.is_in_headers(&headers)
        };
        assert!(is_accepted("Bearer 0123456789abcdef") && is_accepted("bearer  0123456789abcdef"));
        assert!(
            !is_accepted("Bearer 0123456789abcdeg")
                && !is_accepted("0123456789abcdef")
                && !is_accepted("Bearer ")
        );
        assert!(!token.is_in_headers(&HeaderMap::new()));
        assert!(AccessToken::parse("short").is_err() && AccessToken::parse("0123456789 abcdef").is_err());
        assert_eq!(format!("{token:?}"), "AccessToken(…)");
    }
}
