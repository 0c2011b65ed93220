//! Why a build failed, from the output of the installer and the proxy.

use std::path::Path;
use std::time::Duration;

use super::dependencies::escape;
use super::error::EnvironmentError;
use super::index_proxy::ProxyFailure;
use super::package_index::PackageIndex;
use super::sandboxed_tool::FinishedTool;
use crate::result::RunLimit;

/// The maximum number of lines of an installer in a message.
const LINES_MAX: usize = 6;

/// A build that failed.
pub(super) struct BuildFailure<'a> {
    pub(super) tool: &'static str,
    pub(super) platform: String,
    pub(super) index: &'a PackageIndex,
    pub(super) failures: Vec<ProxyFailure>,
    pub(super) store: &'a Path,
    pub(super) time: Duration,
    pub(super) finished: &'a FinishedTool,
}

/// Returns the error for a build that failed.
pub(super) fn classify(failure: BuildFailure<'_>) -> EnvironmentError {
    let finished = failure.finished;
    if finished.cancelled {
        return EnvironmentError::Stopped;
    }
    if let Some(limit) = finished.limits_hit.first() {
        return match limit {
            RunLimit::Time => EnvironmentError::TimedOut { seconds: failure.time.as_secs() },
            RunLimit::Memory => {
                EnvironmentError::TooLarge { reason: "it needs too much memory while it is built".to_owned() }
            }
            _ => EnvironmentError::TooLarge { reason: "the packages take too much space".to_owned() },
        };
    }
    let output = [&finished.stderr[..], b"\n", &finished.stdout[..]].concat();
    let output = String::from_utf8_lossy(&output);
    // A process that was killed from outside has neither an exit code nor a message.
    if finished.exit_code.is_none() && !output.contains("rror") {
        return EnvironmentError::Stopped;
    }
    classify_output(
        failure.tool,
        &failure.platform,
        &failure.index.host(),
        failure.failures,
        failure.store,
        &output,
    )
}

fn classify_output(
    tool: &'static str,
    platform: &str,
    host: &str,
    failures: Vec<ProxyFailure>,
    store: &Path,
    output: &str,
) -> EnvironmentError {
    let has = |texts: &[&str]| texts.iter().any(|text| output.contains(text));
    if has(&["No space left on device", "Errno 28", "ENOSPC", "Disk quota exceeded"]) {
        return EnvironmentError::DiskFull { path: store.to_owned() };
    }
    match failures.into_iter().next() {
        Some(ProxyFailure::Denied { host }) => {
            return EnvironmentError::HostNotAllowed { host: escape(&host) };
        }
        Some(ProxyFailure::Unreachable { host, reason }) => {
            return EnvironmentError::Unreachable { host: escape(&host), reason: escape(&reason) };
        }
        None => {}
    }
    if has(&["DO NOT MATCH THE HASHES", "Hash mismatch", "EINTEGRITY"]) {
        return EnvironmentError::HashMismatch {
            lines: relevant_lines(output, &["Expected", "Got", "Computed", "EINTEGRITY"]),
        };
    }
    if has(&["timed out", "timeout", "ETIMEDOUT"]) {
        return EnvironmentError::Unreachable {
            host: host.to_owned(),
            reason: "no answer in time".to_owned(),
        };
    }
    if has(&[
        "CERTIFICATE_VERIFY_FAILED",
        "invalid peer certificate",
        "UNABLE_TO_VERIFY_LEAF",
        "self-signed certificate",
        "SELF_SIGNED",
    ]) {
        return EnvironmentError::Unreachable {
            host: host.to_owned(),
            reason: "its certificate is not trusted; set SSL_CERT_FILE to a file in /etc or /usr".to_owned(),
        };
    }
    if let Some(package) = missing_wheel(output) {
        return EnvironmentError::NoWheel { package: package.to_owned(), platform: platform.to_owned() };
    }
    if has(&[
        "ResolutionImpossible",
        "conflicting dependencies",
        "requirements are unsatisfiable",
        "incompatible",
    ]) {
        // pip names the requirements by their file, which is not the user's.
        let lines = relevant_lines(output, &["depends on", "The user requested", "ecause"])
            .into_iter()
            .filter(|line| !line.contains("(line "))
            .collect();
        return EnvironmentError::Conflict { lines };
    }
    EnvironmentError::Tool { tool, lines: last_lines(output) }
}

/// Returns the package of which there is no wheel, if the output of pip or uv names one.
fn missing_wheel(output: &str) -> Option<&str> {
    output.lines().find_map(|line| {
        if let Some((_, package)) = line.split_once("No matching distribution found for ") {
            return Some(package.trim());
        }
        let (_, reason) = line.split_once("Because ")?;
        let reason = reason.trim_start_matches("all versions of ");
        let (package, rest) = reason.split_once(' ')?;
        let is_missing = rest.starts_with("was not found")
            || rest.starts_with("has no usable wheels")
            || rest.starts_with("have no usable wheels");
        is_missing.then_some(package)
    })
}

/// Returns the lines that contain one of the words, or the last ones.
fn relevant_lines(output: &str, words: &[&str]) -> Vec<String> {
    let lines: Vec<String> = output
        .lines()
        .map(str::trim)
        .filter(|line| words.iter().any(|word| line.contains(word)))
        .take(LINES_MAX)
        .map(|line| escape(line.trim_start_matches("ERROR: ").trim_start_matches("cause: ")))
        .collect();
    if lines.is_empty() { last_lines(output) } else { lines }
}

/// Returns the last lines that are errors, or the last lines. Only the last line of a stack trace says what happened.
fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_error =
        |line: &&str| line.to_ascii_lowercase().starts_with("error") && !line.ends_with("Exception:");
    let errors: Vec<&str> = lines.iter().copied().filter(is_error).collect();
    let (chosen, count) = match (errors.is_empty(), output.contains("Traceback (most recent call last)")) {
        (false, _) => (errors, 3),
        (true, true) => (lines, 1),
        (true, false) => (lines, 3),
    };
    let start = chosen.len().saturating_sub(count);
    let shown: Vec<String> = chosen[start..]
        .iter()
        .map(|line| escape(line.trim_start_matches("ERROR: ").trim_start_matches("cause: ")))
        .collect();
    if shown.is_empty() { vec!["no output".to_owned()] } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_message_and_a_hint() {
        let describe = |failures: Vec<ProxyFailure>, output: &str| {
            let store = Path::new("/store");
            let error =
                classify_output("pip", "Python 3.11 on linux", "index.example", failures, store, output);
            format!("{error}\n  {}", error.hint().unwrap_or("no hint".to_owned()))
        };
        let unreachable =
            ProxyFailure::Unreachable { host: "index.example".into(), reason: "connection refused".into() };
        let texts = [
            describe(
                vec![],
                "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
            ),
            describe(vec![unreachable], "ERROR: No matching distribution found for six\n"),
            describe(vec![ProxyFailure::Denied { host: "evil.example:443".into() }], "ERROR: x\n"),
            describe(
                vec![],
                "ERROR: Could not find a version that satisfies the requirement nowheel\nERROR: No matching distribution found for nowheel>=2\n",
            ),
            describe(
                vec![],
                "ERROR: Cannot install a and b==2 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    a 1.0 depends on b<2\n    The user requested b==2\n\nERROR: ResolutionImpossible: for help visit https://x.example\n",
            ),
            describe(
                vec![],
                "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n        Expected sha256 aa\n             Got        bb\n",
            ),
            describe(
                vec![],
                "WARNING: Retrying (Retry(total=0)) after connection broken by 'ReadTimeoutError(\"Read timed out.\")'\n",
            ),
            describe(
                vec![],
                "  cause: Because all versions of docopt have no usable wheels and you require docopt, we can conclude that your requirements are unsatisfiable.\n",
            ),
            describe(
                vec![],
                "  cause: Because only a>=1.0.0 is available and you require a<1, we can conclude that your requirements are unsatisfiable.\n",
            ),
            describe(vec![], "Traceback\nValueError: \u{1b}[31mboom\n"),
            describe(vec![], ""),
        ];
        insta::assert_snapshot!(texts.join("\n"), @r#"
        no space left for the environment in /store
          free some space, or run `prowess env prune`
        cannot reach the package index at index.example: connection refused
          check the network, HTTPS_PROXY and environments.python-index
        the package index refers to evil.example:443, which is not allowed while an environment is built
          if you trust it, add to ~/.prowess/config.toml: environments.hosts = ["evil.example:443"]
        the package index has no wheel of nowheel>=2 for Python 3.11 on linux
          check the name and the version; packages that are only available as source are never built
        the required packages conflict: Cannot install a and b==2 because these package versions have conflicting dependencies.; a 1.0 depends on b<2; The user requested b==2
          change the required versions in the skill
        a downloaded package does not have the recorded digest: Expected sha256 aa; Got        bb
          check the package index; the files differ from the recorded ones
        cannot reach the package index at index.example: no answer in time
          check the network, HTTPS_PROXY and environments.python-index
        the package index has no wheel of docopt for Python 3.11 on linux
          check the name and the version; packages that are only available as source are never built
        the required packages conflict: Because only a>=1.0.0 is available and you require a<1, we can conclude that your requirements are unsatisfiable.
          change the required versions in the skill
        pip failed: Traceback; ValueError: \u{1b}[31mboom
          no hint
        pip failed: no output
          no hint
        "#);
    }
}
