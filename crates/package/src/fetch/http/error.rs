//! What can go wrong with a request, in words that show no secret.

use std::io;

use prowess::ErrorCode;
use prowess_format::hidden;
use ureq::Error;

use super::REDIRECTS_MAX;
use crate::Work;

/// Why something could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Not an https URL.
    #[error("{url} is not an https URL")]
    NotHttps {
        /// The URL, without what may be secret.
        url: String,
    },
    /// The server sends us on to a URL that is not https.
    #[error("{host} sends us on to a URL without https")]
    Downgrade {
        /// Who does.
        host: String,
    },
    /// A user or password in the URL.
    #[error("{url} was given with a user or password in it")]
    Credentials {
        /// The URL, without them.
        url: String,
    },
    /// Not a URL.
    #[error("{url} is not a URL that can be asked for")]
    BadUrl {
        /// What was given, without what may be secret.
        url: String,
    },
    /// Sent on again and again.
    #[error("{host} sent us on more than {REDIRECTS_MAX} times")]
    Redirects {
        /// Who did.
        host: String,
    },
    /// Nobody answers.
    #[error("{host} cannot be reached: {why}")]
    Unreachable {
        /// Whom we asked.
        host: String,
        /// What the system says.
        why: String,
    },
    /// Somebody answers, and cannot prove to be who we asked.
    #[error("{host} has no valid certificate: {why}")]
    Certificate {
        /// Whom we asked.
        host: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nothing comes any more.
    #[error("{host} did not answer in time")]
    Timeout {
        /// Whom we asked.
        host: String,
    },
    /// More than the caller takes.
    #[error("{url} sends more than {max} bytes")]
    TooLarge {
        /// The URL, without what may be secret.
        url: String,
        /// How much would have been taken.
        max: u64,
    },
    /// An answer that is no success.
    #[error("{url} answered with status {status}")]
    Status {
        /// The URL, without what may be secret.
        url: String,
        /// The status.
        status: u16,
    },
    /// The connection ended half-way, or what came is not HTTP.
    #[error("the connection to {host} broke: {why}")]
    Broken {
        /// Whom we asked.
        host: String,
        /// What happened.
        why: String,
    },
    /// Nobody wants the result any more.
    #[error("cancelled")]
    Cancelled,
}

impl HttpError {
    /// For programs.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotHttps { .. } | Self::BadUrl { .. } | Self::Credentials { .. } => ErrorCode::InvalidParam,
            Self::Downgrade { .. } | Self::Certificate { .. } => ErrorCode::AccessDenied,
            Self::Status { status: 404 | 410, .. } => ErrorCode::NotFound,
            Self::Status { status: 401 | 403, .. } => ErrorCode::PermissionDenied,
            Self::Unreachable { .. } => ErrorCode::ExecutionError,
            Self::Timeout { .. } => ErrorCode::Timeout,
            Self::TooLarge { .. } => ErrorCode::TooLarge,
            Self::Redirects { .. } | Self::Status { .. } | Self::Broken { .. } | Self::Cancelled => {
                ErrorCode::ExecutionError
            }
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotHttps { .. } => {
                "use https: what comes over plain http can be changed by anybody on the way"
            }
            Self::Credentials { .. } => {
                "leave user and password out; for what is private, use the ssh form, git@host:owner/repo"
            }
            Self::Certificate { .. } => {
                "if you trust the server's own authority, name its certificates in SSL_CERT_FILE"
            }
            Self::Unreachable { .. } => {
                "check the name and your connection; a proxy is taken from HTTPS_PROXY"
            }
            Self::Timeout { .. } | Self::Broken { .. } => "try again later",
            Self::Status { status: 500..=599, .. } => "the server has a problem of its own; try again later",
            Self::Status { status: 429, .. } => "the server is asked too often; try again later",
            Self::BadUrl { .. }
            | Self::Downgrade { .. }
            | Self::Redirects { .. }
            | Self::TooLarge { .. }
            | Self::Status { .. }
            | Self::Cancelled => return None,
        };
        Some(hint.to_owned())
    }

    /// The failure inside an error of [`Response`](super::Response), which is [`Read`](std::io::Read).
    pub(crate) fn from_io(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    pub(super) fn of(error: Error, url: &str, work: &Work) -> Self {
        if work.go_on().is_err() {
            return Self::Cancelled;
        }
        let host = host(url);
        match error {
            Error::Timeout(_) => Self::Timeout { host },
            Error::HostNotFound => {
                Self::Unreachable { host, why: "there is no host of that name".to_owned() }
            }
            Error::ConnectionFailed => Self::Unreachable { host, why: "no connection".to_owned() },
            // What these hold may name the proxy with its password.
            Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => {
                Self::Unreachable { host, why: "the proxy does not let us through".to_owned() }
            }
            Error::TooManyRedirects => Self::Redirects { host },
            Error::RequireHttpsOnly(_) => Self::Downgrade { host },
            Error::BadUri(_) | Error::Http(_) => Self::BadUrl { url: shown(url) },
            Error::Rustls(error) => Self::tls(host, &error),
            Error::Io(error) => Self::io(host, &error),
            Error::RedirectFailed => Self::Broken { host, why: "it sends us on in a wrong way".to_owned() },
            Error::Protocol(_) | Error::LargeResponseHeader(..) => {
                Self::Broken { host, why: "its answer is not HTTP".to_owned() }
            }
            _ => Self::Broken { host, why: "it failed".to_owned() },
        }
    }

    fn io(host: String, error: &io::Error) -> Self {
        if let Some(tls) = error.get_ref().and_then(|inner| inner.downcast_ref()) {
            return Self::tls(host, tls);
        }
        match error.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::Timeout { host },
            io::ErrorKind::UnexpectedEof => Self::Broken { host, why: "it ended half-way".to_owned() },
            io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe => {
                Self::Broken { host, why: error.kind().to_string() }
            }
            // The system's resolver fails without a kind of its own.
            _ if error.to_string().starts_with("failed to lookup address") => {
                Self::Unreachable { host, why: "its name cannot be resolved".to_owned() }
            }
            kind => Self::Unreachable { host, why: kind.to_string() },
        }
    }

    fn tls(host: String, error: &rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidCertificate(why) => {
                Self::Certificate { host, why: hidden::shown(&why.to_string()).into_owned() }
            }
            rustls::Error::General(why) => Self::Certificate { host, why: hidden::shown(why).into_owned() },
            _ => Self::Broken { host, why: "it does not speak TLS as we do".to_owned() },
        }
    }
}

/// A URL without user, password, query and fragment, fit for a message.
pub(crate) fn shown(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let bare = match url[..end].split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => url[..end].rsplit('@').next().unwrap_or_default().to_owned(),
    };
    hidden::shown(&bare).into_owned()
}

fn host(url: &str) -> String {
    let shown = shown(url);
    let rest = shown.split_once("://").map_or(shown.as_str(), |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_resolved_is_reported_as_that() {
        // The name is reserved for never being there.
        let error = std::net::ToSocketAddrs::to_socket_addrs("prowess.invalid:443").unwrap_err();
        let told = HttpError::io("prowess.invalid".to_owned(), &error).to_string();
        assert!(told.contains("its name cannot be resolved"), "{told}");
    }

    #[test]
    fn a_message_shows_no_secret() {
        assert_eq!(shown("https://me:token@host:8443/a/b?key=1#x"), "https://host:8443/a/b");
        assert_eq!(shown("https://token@host"), "https://host");
        assert_eq!(shown("me:token@host/a"), "host/a");
        assert_eq!(shown("https://a@b@host/x@y"), "https://host/x@y");
        assert_eq!(host("https://me:token@host:8443/a"), "host:8443");
    }
}
