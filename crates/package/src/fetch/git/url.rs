//! Parses and validates the URL of a repository.

mod error;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use prowess_format::hidden;

pub use error::ParseGitUrlError;

/// Whether `file://` URLs are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalRepositories {
    /// Allowed: the URL comes from the user.
    Allowed,
    /// Not allowed: the URL comes from an untrusted file.
    Refused,
}

/// The URL of a repository: https, ssh (`ssh://…` or `user@host:path`) or, if allowed, `file://`.
///
/// An https URL never contains a user or password; private repositories are fetched over ssh. No part of it can be
/// interpreted as an option or a command by a program that receives it as an argument.
///
/// ```
/// use prowess_package::git::{GitUrl, LocalRepositories};
///
/// let url = GitUrl::parse("git@example.com:owner/skills.git", LocalRepositories::Refused).unwrap();
/// assert_eq!(url.to_string(), "git@example.com:owner/skills.git");
/// assert!(GitUrl::parse("ext::sh -c id", LocalRepositories::Refused).is_err());
/// assert!(GitUrl::parse("https://me:token@example.com/x", LocalRepositories::Refused).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GitUrl(pub(super) GitLocation);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum GitLocation {
    /// The complete URL, without a trailing `/`.
    Https(String),
    Ssh(SshLocation),
    Local(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SshLocation {
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// The path on the server: absolute, or relative to the home directory there.
    pub(super) path: String,
}

impl GitUrl {
    /// Parses and validates a URL.
    pub fn parse(raw: &str, local: LocalRepositories) -> Result<Self, ParseGitUrlError> {
        if raw.is_empty() {
            return Err(ParseGitUrlError::Empty);
        }
        if raw.len() > 2_048 {
            return Err(ParseGitUrlError::TooLong);
        }
        if raw.starts_with('-') {
            return Err(ParseGitUrlError::LooksLikeOption);
        }
        let Some((scheme, rest)) = raw.split_once("://") else { return Self::scp(raw) };
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Self::https(rest),
            "ssh" => Self::ssh(rest),
            "file" if local == LocalRepositories::Allowed => Self::file(rest),
            "file" => Err(ParseGitUrlError::Local),
            "http" => Err(ParseGitUrlError::Http),
            _ => Err(ParseGitUrlError::Scheme),
        }
    }

    /// Returns the URL of a local directory.
    pub fn local(path: &Path) -> Self {
        Self(GitLocation::Local(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())))
    }

    fn https(rest: &str) -> Result<Self, ParseGitUrlError> {
        check_characters(rest)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(ParseGitUrlError::Credentials);
        }
        let (host, port) = host_and_port(authority)?;
        let path = path.trim_end_matches('/');
        if path.is_empty() || path.contains(['?', '#']) {
            return Err(ParseGitUrlError::Path);
        }
        let host = host.to_ascii_lowercase();
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self(GitLocation::Https(format!("https://{host}{port}{path}"))))
    }

    fn ssh(rest: &str) -> Result<Self, ParseGitUrlError> {
        check_characters(rest)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = user_and_rest(authority)?;
        let (host, port) = host_and_port(host)?;
        let path = percent_decode(path)?;
        // Like git: /~user is a home directory on the server.
        let path = if path.starts_with("/~") { path[1..].to_owned() } else { path };
        Ok(Self(GitLocation::Ssh(SshLocation { user, host, port, path: ssh_path(path)? })))
    }

    /// `user@host:path`
    fn scp(raw: &str) -> Result<Self, ParseGitUrlError> {
        let host_end = match raw.find(']') {
            Some(end) if raw.contains('[') => end,
            _ => 0,
        };
        let colon =
            raw[host_end..].find(':').map(|colon| colon + host_end).ok_or(ParseGitUrlError::Scheme)?;
        let (authority, path) = (&raw[..colon], &raw[colon + 1..]);
        // `ext::…` is a program to run, `C:\…` a drive, and `a/b:c` a directory.
        if path.starts_with(':') || authority.contains('/') || authority.len() == 1 {
            return Err(ParseGitUrlError::Scheme);
        }
        check_characters(raw)?;
        // `user:password@host`, which git would parse as a host and a path.
        if path.split('/').next().is_some_and(|component| component.contains('@')) {
            return Err(ParseGitUrlError::Credentials);
        }
        let (user, host) = user_and_rest(authority)?;
        let (host, None) = host_and_port(host)? else { return Err(ParseGitUrlError::Host) };
        Ok(Self(GitLocation::Ssh(SshLocation { user, host, port: None, path: ssh_path(path.to_owned())? })))
    }

    fn file(rest: &str) -> Result<Self, ParseGitUrlError> {
        let path = percent_decode(rest.strip_prefix("localhost").unwrap_or(rest))?;
        if path.chars().any(char::is_control) || hidden::find_hidden(&path).is_some() {
            return Err(ParseGitUrlError::Character);
        }
        if !path.starts_with('/') {
            return Err(ParseGitUrlError::Path);
        }
        Ok(Self(GitLocation::Local(PathBuf::from(path))))
    }
}

impl fmt::Display for GitUrl {
    /// Formats the URL so that it parses to the same location. It contains no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            GitLocation::Https(url) => f.write_str(url),
            GitLocation::Local(path) => write!(f, "file://{}", percent_encode(&path.to_string_lossy())),
            GitLocation::Ssh(ssh) => {
                let user = ssh.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
                let port = ssh.port.map(|port| format!(":{port}")).unwrap_or_default();
                match ssh.path.as_bytes() {
                    [b'/', ..] => write!(f, "ssh://{user}{}{port}{}", ssh.host, percent_encode(&ssh.path)),
                    [b'~', ..] => write!(f, "ssh://{user}{}{port}/{}", ssh.host, percent_encode(&ssh.path)),
                    // Relative to the home directory, which only this form can express; it has no port.
                    _ => write!(f, "{user}{}:{}", ssh.host, ssh.path),
                }
            }
        }
    }
}

/// Accepts only visible ASCII characters without special ones of shells and other systems.
fn check_characters(text: &str) -> Result<(), ParseGitUrlError> {
    let is_bad =
        |byte: u8| !byte.is_ascii_graphic() || matches!(byte, b'\\' | b'"' | b'`' | b'<' | b'>' | b'|');
    if text.bytes().any(is_bad) { Err(ParseGitUrlError::Character) } else { Ok(()) }
}

fn user_and_rest(authority: &str) -> Result<(Option<String>, &str), ParseGitUrlError> {
    let Some((user, rest)) = authority.rsplit_once('@') else { return Ok((None, authority)) };
    if user.starts_with('-') {
        return Err(ParseGitUrlError::LooksLikeOption);
    }
    if user.contains(':') {
        return Err(ParseGitUrlError::Credentials);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+');
    if user.is_empty() || !user.bytes().all(is_allowed) {
        return Err(ParseGitUrlError::Host);
    }
    Ok((Some(user.to_owned()), rest))
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), ParseGitUrlError> {
    let colon = match authority.strip_prefix('[') {
        Some(inner) => {
            let end = inner.find(']').ok_or(ParseGitUrlError::Host)?;
            inner[..end].parse::<std::net::Ipv6Addr>().map_err(|_| ParseGitUrlError::Host)?;
            end + 2
        }
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(colon);
    if host.starts_with('-') {
        return Err(ParseGitUrlError::LooksLikeOption);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if host.is_empty() || !(host.starts_with('[') || host.bytes().all(is_allowed)) {
        return Err(ParseGitUrlError::Host);
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port != 0).ok_or(ParseGitUrlError::Port)?)
        }
        _ => return Err(ParseGitUrlError::Port),
    };
    Ok((host.to_owned(), port))
}

fn ssh_path(path: String) -> Result<String, ParseGitUrlError> {
    if path.chars().any(char::is_control) || hidden::find_hidden(&path).is_some() {
        return Err(ParseGitUrlError::Character);
    }
    if path.trim_start_matches('/').starts_with('-') {
        return Err(ParseGitUrlError::LooksLikeOption);
    }
    if path.trim_matches('/').is_empty() { Err(ParseGitUrlError::Path) } else { Ok(path) }
}

fn percent_decode(text: &str) -> Result<String, ParseGitUrlError> {
    let is_escape = |after: &str| {
        after.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return Err(ParseGitUrlError::Path);
    }
    percent_decode_str(text).decode_utf8().map(Cow::into_owned).map_err(|_| ParseGitUrlError::Path)
}

fn percent_encode(path: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'.')
        .remove(b'-')
        .remove(b'_')
        .remove(b'~')
        .remove(b'+')
        .remove(b'@');
    utf8_percent_encode(path, ENCODED).to_string()
}

#[cfg(test)]
mod tests;
