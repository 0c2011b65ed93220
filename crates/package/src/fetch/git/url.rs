//! Where a repository is, as people write it, made safe to use.

mod error;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use prowess_format::hidden;

pub use error::UrlError;

/// Whether a repository on this machine is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    /// `file://` may be used: the user named the place.
    Allowed,
    /// It may not: a stranger did.
    Refused,
}

/// The place of a repository: https, ssh (`ssh://…` or `user@host:path`) or, where it is allowed, `file://`.
///
/// There is never a user or password in an https URL: what is private is fetched over ssh. Nothing in it can be taken
/// for an option or a command by a program that gets it as an argument.
///
/// ```
/// use prowess_package::git::{GitUrl, Local};
///
/// let url = GitUrl::parse("git@example.com:owner/skills.git", Local::Refused).unwrap();
/// assert_eq!(url.to_string(), "git@example.com:owner/skills.git");
/// assert!(GitUrl::parse("ext::sh -c id", Local::Refused).is_err());
/// assert!(GitUrl::parse("https://me:token@example.com/x", Local::Refused).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GitUrl(pub(super) Place);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// The whole URL, without a `/` at its end.
    Https(String),
    Ssh(Ssh),
    Local(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Ssh {
    pub(super) user: Option<String>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    /// As the server gets it: absolute, or from the home there.
    pub(super) path: String,
}

impl GitUrl {
    /// Takes a text for the place of a repository, if it is safe.
    pub fn parse(raw: &str, local: Local) -> Result<Self, UrlError> {
        if raw.is_empty() {
            return Err(UrlError::Empty);
        }
        if raw.len() > 2_048 {
            return Err(UrlError::Long);
        }
        if raw.starts_with('-') {
            return Err(UrlError::Option);
        }
        let Some((scheme, rest)) = raw.split_once("://") else { return Self::scp(raw) };
        match scheme.to_ascii_lowercase().as_str() {
            "https" => Self::https(rest),
            "ssh" => Self::ssh(rest),
            "file" if local == Local::Allowed => Self::file(rest),
            "file" => Err(UrlError::Local),
            "http" => Err(UrlError::Http),
            _ => Err(UrlError::Scheme),
        }
    }

    /// A repository in a folder of this machine.
    pub fn local(path: &Path) -> Self {
        Self(Place::Local(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())))
    }

    fn https(rest: &str) -> Result<Self, UrlError> {
        plain(rest)?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(UrlError::Credentials);
        }
        let (host, port) = host_and_port(authority)?;
        let path = path.trim_end_matches('/');
        if path.is_empty() || path.contains(['?', '#']) {
            return Err(UrlError::Path);
        }
        let host = host.to_ascii_lowercase();
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        Ok(Self(Place::Https(format!("https://{host}{port}{path}"))))
    }

    fn ssh(rest: &str) -> Result<Self, UrlError> {
        plain(rest)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host) = user_and_rest(authority)?;
        let (host, port) = host_and_port(host)?;
        let path = decoded(path)?;
        // As git has it: /~user is a home of the server's.
        let path = if path.starts_with("/~") { path[1..].to_owned() } else { path };
        Ok(Self(Place::Ssh(Ssh { user, host, port, path: ssh_path(path)? })))
    }

    /// `user@host:path`
    fn scp(raw: &str) -> Result<Self, UrlError> {
        let host_end = match raw.find(']') {
            Some(end) if raw.contains('[') => end,
            _ => 0,
        };
        let colon = raw[host_end..].find(':').map(|at| at + host_end).ok_or(UrlError::Scheme)?;
        let (authority, path) = (&raw[..colon], &raw[colon + 1..]);
        // `ext::…` names a program to run, `C:\…` a disk, and `a/b:c` a folder.
        if path.starts_with(':') || authority.contains('/') || authority.len() == 1 {
            return Err(UrlError::Scheme);
        }
        plain(raw)?;
        // `user:password@host`, of which git makes a host with an odd path.
        if path.split('/').next().is_some_and(|step| step.contains('@')) {
            return Err(UrlError::Credentials);
        }
        let (user, host) = user_and_rest(authority)?;
        let (host, None) = host_and_port(host)? else { return Err(UrlError::Host) };
        Ok(Self(Place::Ssh(Ssh { user, host, port: None, path: ssh_path(path.to_owned())? })))
    }

    fn file(rest: &str) -> Result<Self, UrlError> {
        let path = decoded(rest.strip_prefix("localhost").unwrap_or(rest))?;
        if path.chars().any(char::is_control) || hidden::first(&path).is_some() {
            return Err(UrlError::Character);
        }
        if !path.starts_with('/') {
            return Err(UrlError::Path);
        }
        Ok(Self(Place::Local(PathBuf::from(path))))
    }
}

impl fmt::Display for GitUrl {
    /// In the form that parses to the same place. There is no secret in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Https(url) => f.write_str(url),
            Place::Local(path) => write!(f, "file://{}", encoded(&path.to_string_lossy())),
            Place::Ssh(ssh) => {
                let user = ssh.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
                let port = ssh.port.map(|port| format!(":{port}")).unwrap_or_default();
                match ssh.path.as_bytes() {
                    [b'/', ..] => write!(f, "ssh://{user}{}{port}{}", ssh.host, encoded(&ssh.path)),
                    [b'~', ..] => write!(f, "ssh://{user}{}{port}/{}", ssh.host, encoded(&ssh.path)),
                    // From the home there, which only this form can say; it has no port.
                    _ => write!(f, "{user}{}:{}", ssh.host, ssh.path),
                }
            }
        }
    }
}

/// Visible ASCII without what shells and other systems make more of.
fn plain(text: &str) -> Result<(), UrlError> {
    let bad = |byte: u8| !byte.is_ascii_graphic() || matches!(byte, b'\\' | b'"' | b'`' | b'<' | b'>' | b'|');
    if text.bytes().any(bad) { Err(UrlError::Character) } else { Ok(()) }
}

fn user_and_rest(authority: &str) -> Result<(Option<String>, &str), UrlError> {
    let Some((user, rest)) = authority.rsplit_once('@') else { return Ok((None, authority)) };
    if user.starts_with('-') {
        return Err(UrlError::Option);
    }
    if user.contains(':') {
        return Err(UrlError::Credentials);
    }
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+');
    if user.is_empty() || !user.bytes().all(fine) {
        return Err(UrlError::Host);
    }
    Ok((Some(user.to_owned()), rest))
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), UrlError> {
    let colon = match authority.strip_prefix('[') {
        Some(inner) => {
            let end = inner.find(']').ok_or(UrlError::Host)?;
            inner[..end].parse::<std::net::Ipv6Addr>().map_err(|_| UrlError::Host)?;
            end + 2
        }
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(colon);
    if host.starts_with('-') {
        return Err(UrlError::Option);
    }
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if host.is_empty() || !(host.starts_with('[') || host.bytes().all(fine)) {
        return Err(UrlError::Host);
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port != 0).ok_or(UrlError::Port)?)
        }
        _ => return Err(UrlError::Port),
    };
    Ok((host.to_owned(), port))
}

fn ssh_path(path: String) -> Result<String, UrlError> {
    if path.chars().any(char::is_control) || hidden::first(&path).is_some() {
        return Err(UrlError::Character);
    }
    if path.trim_start_matches('/').starts_with('-') {
        return Err(UrlError::Option);
    }
    if path.trim_matches('/').is_empty() { Err(UrlError::Path) } else { Ok(path) }
}

fn decoded(text: &str) -> Result<String, UrlError> {
    let is_escape =
        |after: &str| after.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !text.split('%').skip(1).all(is_escape) {
        return Err(UrlError::Path);
    }
    percent_decode_str(text).decode_utf8().map(Cow::into_owned).map_err(|_| UrlError::Path)
}

fn encoded(path: &str) -> String {
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'.')
        .remove(b'-')
        .remove(b'_')
        .remove(b'~')
        .remove(b'+')
        .remove(b'@');
    utf8_percent_encode(path, KEPT).to_string()
}

#[cfg(test)]
mod tests;
