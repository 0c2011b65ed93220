//! The roots of a client: directories whose files may be inputs of scripts, if the user's configuration allows it.
#![expect(
    deprecated,
    reason = "the protocol is going to remove roots, but clients of all current revisions have them"
)]

use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use prowess::HostEnv;
use prowess_sandbox::check_workspace;
use rmcp::model::{ClientResult, ListRootsRequest, ListRootsResult, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value;

use crate::uri::{URI_MAX, strip_scheme};

/// How long a client may take to list its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of roots; the others are ignored.
const ROOTS_MAX: usize = 16;

/// Returns `true` if a call names a file of the user as an input.
pub(super) fn has_path_input(arguments: &Value) -> bool {
    let inputs = arguments["inputs"].as_array().map(Vec::as_slice).unwrap_or_default();
    inputs.iter().any(|input| input.get("path").is_some_and(Value::is_string))
}

/// Returns the request for the roots of a client.
pub(super) fn request() -> ListRootsRequest {
    ListRootsRequest::default()
}

/// Requests the roots of a client; returns none if it does not answer in time.
pub(super) async fn fetch(context: &RequestContext<RoleServer>) -> Option<ListRootsResult> {
    let options = PeerRequestOptions::with_timeout(ROOTS_TIMEOUT);
    let request = ServerRequest::ListRootsRequest(request());
    let response = context.peer.send_request_with_option(request, options).await.ok()?;
    tokio::select! {
        answer = response.await_response() => match answer {
            Ok(ClientResult::ListRootsResult(result)) => Some(result),
            _ => None,
        },
        () = context.ct.cancelled() => None,
    }
}

/// Reads the roots from the answer of a client.
pub(super) fn parse(answer: &Value) -> Option<ListRootsResult> {
    serde_json::from_value(answer.clone()).ok()
}

/// Returns the directories of roots. Roots that could not be a workspace are ignored: a client must not be able to share
/// the home directory, system directories, or settings of programs.
pub(super) fn directories(result: &ListRootsResult, env: &HostEnv) -> Vec<PathBuf> {
    let roots = result.roots.iter().take(ROOTS_MAX);
    roots.filter_map(|root| check_workspace(&parse_file_uri(&root.uri)?, env).ok()).collect()
}

/// Returns the absolute path of a `file://` URI of this machine.
fn parse_file_uri(uri: &str) -> Option<PathBuf> {
    let rest = strip_scheme(uri, "file://").filter(|_| uri.len() <= URI_MAX)?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let is_plain = path.starts_with('/') && !path.contains(['?', '#']);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let path = prowess_fs::path_from_bytes(&bytes);
    (is_plain && !bytes.contains(&0) && path.is_absolute()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_absolute_file_uris_of_this_machine_are_paths() {
        let path = |uri: &str| parse_file_uri(uri).map(|path| path.display().to_string());
        assert_eq!(path("file:///a/b%20c").as_deref(), Some("/a/b c"));
        assert_eq!(path("FILE://localhost/a").as_deref(), Some("/a"));
        for uri in
            ["file://host/a", "file://a", "file:///a?b", "file:///a#b", "file:///a%00", "http:///a", "/a", ""]
        {
            assert_eq!(path(uri), None, "{uri}");
        }
        assert_eq!(path(&format!("file:///{}", "a".repeat(9_000))), None);
    }

    #[test]
    fn roots_that_could_not_be_workspaces_are_ignored() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        for dir in ["home/work", "home/.ssh"] {
            std::fs::create_dir_all(base.join(dir)).unwrap();
        }
        prowess_fs::create_symlink("/etc".as_ref(), &base.join("home/link")).unwrap();
        let env = HostEnv { project: base.clone(), home: Some(base.join("home")), path: Default::default() };
        let uris = ["", "home", "home/.ssh", "home/link", "home/absent", "home/work"];
        let mut roots: Vec<_> =
            uris.iter().map(|dir| json!({"uri": format!("file://{}", base.join(dir).display())})).collect();
        roots.extend([json!({"uri": "file:///"}), json!({"uri": "file:///etc"})]);
        let result = parse(&json!({"roots": roots})).unwrap();
        assert_eq!(directories(&result, &env), [base.join("home/work")]);
        let many = vec![json!({"uri": format!("file://{}", base.join("home/work").display())}); 100];
        assert_eq!(directories(&parse(&json!({"roots": many})).unwrap(), &env).len(), ROOTS_MAX);
        assert!(parse(&json!({"roots": "x"})).is_none() && parse(&json!(null)).is_none());
    }

    #[test]
    fn path_inputs_are_found() {
        assert!(has_path_input(&json!({"inputs": [{"name": "a", "text": ""}, {"path": "b"}]})));
        for arguments in [json!({}), json!({"inputs": "path"}), json!({"inputs": [{"path": null}, "path"]})] {
            assert!(!has_path_input(&arguments), "{arguments}");
        }
    }
}
