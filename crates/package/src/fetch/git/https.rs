//! The way to a server over https.

use std::io::{BufReader, Read};
use std::sync::Arc;

use super::error::GitError;
use super::wire::Link;
use crate::Work;
use crate::fetch::http::{Http, HttpError, Response, Timeouts, shown};
use prowess_archive::limits::DOWNLOAD_MAX;

/// The most bytes of a greeting, in version 0 with all names in it.
const GREETING_MAX: u64 = 64 * 1024 * 1024;

const VERSION: (&str, &str) = ("Git-Protocol", "version=2");

pub(super) struct Https {
    http: Http,
    /// The repository. Where the first request is sent on, all others follow.
    url: String,
}

impl Https {
    pub(super) fn new(url: &str, timeouts: Timeouts, work: &Arc<Work>) -> Self {
        Self { http: Http::with_timeouts(Arc::clone(work), timeouts), url: url.to_owned() }
    }

    fn judge(&self, answer: Result<Response, HttpError>, kind: &str) -> Result<Response, GitError> {
        let answer = answer.map_err(GitError::from_http)?;
        match answer.status() {
            200..=299 => {}
            // Many servers ask for a password where there is nothing, in order not to say so.
            401 | 403 | 404 | 410 => return Err(GitError::NotFound { url: shown(&self.url) }),
            status => return Err(HttpError::Status { url: shown(answer.url()), status }.into()),
        }
        if answer.content_type().split(';').next().is_some_and(|given| given.trim() == kind) {
            return Ok(answer);
        }
        let why = "a web server answers that does not speak git".to_owned();
        Err(GitError::NotGit { url: shown(&self.url), why })
    }
}

/// The host and port of a URL. An https URL without a port means 443.
fn authority(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    match authority.strip_suffix(":443") {
        Some(host) => host.to_owned(),
        None => authority,
    }
}

impl Link for Https {
    fn greeting(&mut self) -> Result<Box<dyn Read + '_>, GitError> {
        let asked = format!("{}/info/refs?service=git-upload-pack", self.url);
        let answer = self.http.get_with(&asked, GREETING_MAX, "*/*", &[VERSION]);
        let answer = self.judge(answer, "application/x-git-upload-pack-advertisement")?;
        // As git does it: a repository that has moved is asked at its new place, if it is still a repository there.
        match answer.url().split_once("/info/refs?") {
            Some((base, _)) if authority(base) == authority(&self.url) => base.clone_into(&mut self.url),
            Some((base, _)) => {
                return Err(GitError::Redirected { url: shown(&self.url), to: shown(base) });
            }
            None => {
                let why = "it sends us on to something that is no repository".to_owned();
                return Err(GitError::NotGit { url: shown(&self.url), why });
            }
        }
        Ok(Box::new(BufReader::new(answer)))
    }

    fn ask(&mut self, request: &[u8]) -> Result<Box<dyn Read + '_>, GitError> {
        let headers = [
            VERSION,
            ("Content-Type", "application/x-git-upload-pack-request"),
            ("Accept", "application/x-git-upload-pack-result"),
        ];
        let url = format!("{}/git-upload-pack", self.url);
        let answer = self.http.post(&url, DOWNLOAD_MAX, &headers, request);
        let answer = self.judge(answer, "application/x-git-upload-pack-result")?;
        Ok(Box::new(BufReader::with_capacity(64 * 1024, answer)))
    }
}
