//! Errors of HTTP requests. Messages contain no secrets.

use std::io;

use prowess::ErrorCode;
use prowess_format::hidden;
use ureq::Error;

use super::REDIRECTS_MAX;
use crate::Task;

/// The reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The URL is not an https URL.
    #[error("{url} is not an https URL")]
    NotHttps {
        /// The URL without secrets.
        url: String,
    },
    /// The server redirects to a URL that is not https.
    #[error("{host} redirects to a URL without https")]
    Downgrade {
        /// The host.
        host: String,
    },
    /// The URL contains a user or password.
    #[error("{url} contains a user or password")]
    Credentials {
        /// The URL without secrets.
        url: String,
    },
    /// The URL is invalid.
    #[error("invalid URL {url}")]
    InvalidUrl {
        /// The URL without secrets.
        url: String,
    },
    /// There are too many redirects.
    #[error("{host} redirected more than {REDIRECTS_MAX} times")]
    TooManyRedirects {
        /// The host.
        host: String,
    },
    /// No connection can be established.
    #[error("cannot connect to {host}: {reason}")]
    Unreachable {
        /// The host.
        host: String,
        /// The cause.
        reason: String,
    },
    /// The server cannot be authenticated.
    #[error("the certificate of {host} is invalid: {reason}")]
    InvalidCertificate {
        /// The host.
        host: String,
        /// The problem.
        reason: String,
    },
    /// The server does not respond.
    #[error("{host} timed out")]
    Timeout {
        /// The host.
        host: String,
    },
    /// The response exceeds the limit of the caller.
    #[error("the response of {url} is larger than {max} bytes")]
    TooLarge {
        /// The URL without secrets.
        url: String,
        /// The limit.
        max: u64,
    },
    /// The status is not a success.
    #[error("{url} returned status {status}")]
    Status {
        /// The URL without secrets.
        url: String,
        /// The status.
        status: u16,
    },
    /// The connection was closed early, or the response is not HTTP.
    #[error("the connection to {host} failed: {reason}")]
    ConnectionFailed {
        /// The host.
        host: String,
        /// The cause.
        reason: String,
    },
    /// The operation was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl HttpError {
    /// Returns the error code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotHttps { .. } | Self::InvalidUrl { .. } | Self::Credentials { .. } => {
                ErrorCode::InvalidParam
            }
            Self::Downgrade { .. } | Self::InvalidCertificate { .. } => ErrorCode::AccessDenied,
            Self::Status { status: 404 | 410, .. } => ErrorCode::NotFound,
            Self::Status { status: 401 | 403, .. } => ErrorCode::PermissionDenied,
            Self::Unreachable { .. } => ErrorCode::ExecutionError,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::TooManyRedirects { .. }
            | Self::Status { .. }
            | Self::ConnectionFailed { .. }
            | Self::Cancelled => ErrorCode::ExecutionError,
        }
    }

    /// Returns a hint for the user.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotHttps { .. } => "use https, because plain http is not protected against tampering",
            Self::Credentials { .. } => {
                "remove the user and password; for a private repository, use the ssh form git@host:owner/repo"
            }
            Self::InvalidCertificate { .. } => {
                "if you trust the certificate authority of the server, set SSL_CERT_FILE to its certificates"
            }
            Self::Unreachable { .. } => "check the host name, your network connection, and HTTPS_PROXY",
            Self::Timeout { .. } | Self::ConnectionFailed { .. } => "try again later",
            Self::Status { status: 500..=599, .. } => "the server has an internal error; try again later",
            Self::Status { status: 429, .. } => "the server limits the request rate; try again later",
            Self::InvalidUrl { .. }
            | Self::Downgrade { .. }
            | Self::TooManyRedirects { .. }
            | Self::TooLarge { .. }
            | Self::Status { .. }
            | Self::Cancelled => return None,
        };
        Some(hint.to_owned())
    }

    /// Extracts the error from an [`io::Error`] of [`HttpResponse`](super::HttpResponse).
    pub(crate) fn from_io(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    pub(super) fn from_ureq(error: Error, url: &str, task: &Task) -> Self {
        if task.check_cancelled().is_err() {
            return Self::Cancelled;
        }
        let host = host_of(url);
        match error {
            Error::Timeout(_) => Self::Timeout { host },
            Error::HostNotFound => Self::Unreachable { host, reason: "unknown host".to_owned() },
            Error::ConnectionFailed => Self::Unreachable { host, reason: "no connection".to_owned() },
            // These errors may contain the password of the proxy.
            Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => {
                Self::Unreachable { host, reason: "the proxy rejected the connection".to_owned() }
            }
            Error::TooManyRedirects => Self::TooManyRedirects { host },
            Error::RequireHttpsOnly(_) => Self::Downgrade { host },
            Error::BadUri(_) | Error::Http(_) => Self::InvalidUrl { url: redact_url(url) },
            Error::Rustls(error) => Self::from_tls(host, &error),
            Error::Io(error) => Self::from_connection_error(host, &error),
            Error::RedirectFailed => Self::ConnectionFailed { host, reason: "invalid redirect".to_owned() },
            Error::Protocol(_) | Error::LargeResponseHeader(..) => {
                Self::ConnectionFailed { host, reason: "the response is not HTTP".to_owned() }
            }
            _ => Self::ConnectionFailed { host, reason: "unknown error".to_owned() },
        }
    }

    fn from_connection_error(host: String, error: &io::Error) -> Self {
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
            return Self::from_tls(host, tls);
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::Timeout { host },
            io::ErrorKind::UnexpectedEof => {
                Self::ConnectionFailed { host, reason: "it was closed unexpectedly".to_owned() }
            }
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Self::ConnectionFailed { host, reason: error.kind().to_string() }
            }
            // The system's resolver has no error kind of its own.
            _ if error.to_string().starts_with("failed to lookup address") => {
                Self::Unreachable { host, reason: "the host name cannot be resolved".to_owned() }
            }
            kind => Self::Unreachable { host, reason: kind.to_string() },
        }
    }

    fn from_tls(host: String, error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(problem) => Self::InvalidCertificate {
                host,
                reason: hidden::escape_for_display(&problem.to_string()).into_owned(),
            },
            rustls::Error::General(problem) => {
                Self::InvalidCertificate { host, reason: hidden::escape_for_display(problem).into_owned() }
            }
            _ => Self::ConnectionFailed { host, reason: "TLS error".to_owned() },
        }
    }
}

/// Returns a URL without user, password, query and fragment, for messages.
pub(crate) fn redact_url(url: &str) -> String {
    let scheme_end = url.find("://").map_or(0, |start| start + "://".len());
    let (scheme, rest) = url.split_at(scheme_end);
    let (authority, path) = split_authority(rest);
    let host = authority.rsplit('@').next().unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    hidden::escape_for_display(&format!("{scheme}{host}{path}")).into_owned()
}

/// Splits a URL without its scheme after the host. A password that contains `/`, `?` or `#` counts as part of the authority,
/// although these characters should have been escaped.
pub(super) fn split_authority(rest: &str) -> (&str, &str) {
    let end_from = |start: usize| rest[start..].find(['/', '?', '#']).map_or(rest.len(), |end| start + end);
    let end = end_from(0);
    let port = rest[..end].rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit());
    match rest.rfind('@') {
        Some(at_sign) if at_sign > end && !is_port => rest.split_at(end_from(at_sign)),
        _ => rest.split_at(end),
    }
}

fn host_of(url: &str) -> String {
    let redacted = redact_url(url);
    let rest = redacted.split_once("://").map_or(redacted.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unresolvable_name_is_reported() {
        // The domain `.invalid` is reserved and never exists.
        let error = std::net::ToSocketAddrs::to_socket_addrs("prowess.invalid:443").unwrap_err();
        let message = HttpError::from_connection_error("prowess.invalid".to_owned(), &error).to_string();
        assert!(message.contains("the host name cannot be resolved"), "{message}");
    }

    #[test]
    fn a_message_contains_no_secret() {
        assert_eq!(redact_url("https://me:token@host:8443/a/b?key=1#x"), "https://host:8443/a/b");
        assert_eq!(redact_url("https://token@host"), "https://host");
        assert_eq!(redact_url("me:token@host/a"), "host/a");
        assert_eq!(redact_url("https://a@b@host/x@y"), "https://host/x@y");
        assert_eq!(redact_url("https://me:to#ken@host/a?b"), "https://host/a");
        assert_eq!(redact_url("https://me:to/k?en@host"), "https://host");
        assert_eq!(redact_url("https://[::1]:80/x@y"), "https://[::1]:80/x@y");
        assert_eq!(redact_url("https://[::1]/x@y"), "https://[::1]/x@y");
        assert_eq!(host_of("https://me:token@host:8443/a"), "host:8443");
    }
}
