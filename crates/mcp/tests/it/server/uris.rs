//! Invalid and malicious URIs.

use serde_json::json;

use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, SKILLS_DIR, TestHome, error_of};

/// Each URI is used with every method: no file is returned and no directory is listed.
const HOSTILE: &[&str] = &[
    "",
    "/",
    "SKILL.md",
    "a/SKILL.md",
    "//a/SKILL.md",
    "skill:",
    "skill:/",
    "skill://",
    "skill:///",
    "skill:///SKILL.md",
    "skill:///a/SKILL.md",
    "skill:a/SKILL.md",
    "skill://a/",
    "skill://a//SKILL.md",
    "skill://a/./SKILL.md",
    "skill://a/../a/SKILL.md",
    "skill://a/../../secret.txt",
    "skill://../secret.txt",
    "skill://a/..",
    "skill://a/%2e%2e/b/SKILL.md",
    "skill://a/%2E%2e/%2e%2E/secret.txt",
    "skill://a/.%2e/b/SKILL.md",
    "skill://%2e%2e/secret.txt",
    "skill://a/..%2fb%2fSKILL.md",
    "skill://a/x%2Fy.md",
    "skill://a%2fSKILL.md",
    "skill://a/x%5cy.md",
    "skill://a\\SKILL.md",
    "skill://a/..\\b\\SKILL.md",
    "skill://a/SKILL.md%00",
    "skill://a/SKILL.md%00.txt",
    "skill://a/SKILL.md\u{0}",
    "skill://a/%c0%ae%c0%ae/b/SKILL.md",
    "skill://a/%ff",
    "skill://a/%",
    "skill://a/%2",
    "skill://a/%zz",
    "skill://a/%252e%252e/b/SKILL.md",
    "skill://a/SKILL.md?x=1",
    "skill://a/SKILL.md#x",
    "skill://a?/SKILL.md",
    "skill://user@a/SKILL.md",
    "skill://user:pass@a/SKILL.md",
    "skill://a:80/SKILL.md",
    "skill://[::1]/SKILL.md",
    "skill://localhost/a/SKILL.md",
    "skill://evil.example/a/SKILL.md",
    "skill://A/SKILL.md",
    "skill://a/skill.md",
    "skill://a./SKILL.md",
    "skill:// a/SKILL.md",
    " skill://a/SKILL.md",
    "skill://a/SKILL.md ",
    "skill://a/SKILL.md/",
    "skill://a/SKILL.md/x",
    "skill://a/SKILL.md\n",
    "skills://a/SKILL.md",
    "skill+http://a/SKILL.md",
    "file:///etc/passwd",
    "file://a/SKILL.md",
    "http://127.0.0.1/",
    "data:text/plain,x",
    "skill://a/proc/self/environ",
    "skill://a//etc/passwd",
    "skill://a/etc%2fpasswd",
    "skill://none",
];

#[tokio::test]
async fn only_files_of_skills_are_reachable() {
    let home = TestHome::with_skills(&["a", "b"]);
    home.write_file(&format!("{SKILLS_DIR}/a/x/y.md"), "Y");
    home.write_file("~/.agents/secret.txt", "SECRET");
    home.write_file(&format!("{SKILLS_DIR}/secret.txt"), "SECRET");
    let server = home.server();
    let long = format!("skill://a/{}", "x".repeat(100_000));
    let deep = format!("skill://a{}", "/x".repeat(4_000));
    let hostile = HOSTILE.iter().copied().chain([long.as_str(), deep.as_str()]);
    let (mut older, mut newer) = (
        StdioTestClient::connected(&server, "2025-11-25").await,
        StdioTestClient::stateless(&server, NEWEST_VERSION),
    );
    let mut report = Vec::new();
    for uri in hostile {
        for method in ["resources/read", "skills/get", "resources/directory/read"] {
            for (is_older, client) in [(true, &mut older), (false, &mut newer)] {
                let response = client.request(method, json!({"uri": uri})).await;
                let (code, message) = error_of(&response);
                assert!([-32602, -32002].contains(&code), "{method} {uri:?}: {response}");
                assert!(response.to_string().len() < 20_000 && !response.to_string().contains("SECRET"));
                if method == "resources/read" && is_older {
                    let uri: String = uri.chars().take(60).collect();
                    report.push(format!("{uri:?}: {code} {message}"));
                }
            }
        }
    }
    insta::assert_snapshot!(report.join("\n"));
}

#[tokio::test]
async fn equivalent_uris_are_accepted() {
    let home = TestHome::with_skills(&["a"]);
    home.write_file(&format!("{SKILLS_DIR}/a/x y.md"), "Y");
    let mut client = StdioTestClient::connected(&home.server(), "2025-11-25").await;
    for uri in ["skill://a/x%20y.md", "skill://a/x y.md", "skill://%61/x%20%79.md", "SKILL://a/x%20y.md"] {
        let read = client.result("resources/read", json!({"uri": uri})).await;
        assert_eq!((&read["contents"][0]["uri"], &read["contents"][0]["text"]), (&json!(uri), &json!("Y")));
    }
}
