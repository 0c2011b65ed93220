//! Scripts: what is told while they run, and what ends them.

use std::path::{Path, PathBuf};

use prowess::Preset;
use prowess::policy::Scripts;
use prowess_mcp::http::HttpOptions;
use serde_json::{Value, json};

use crate::world::http::Site;
use crate::world::stdio::Client;
use crate::world::{NEWEST, ROOT, World, initialize, schema, until, with_meta};

/// A script that says that it is there, and stays for longer than any test waits.
const ENDLESS: &str = "#!/bin/sh\necho ready\nexec sleep 3333.3333\n";

fn world() -> World {
    let mut world = World::new(Preset::Standard);
    world.policy.run.scripts = Scripts::Allowed;
    world.skill(&format!("{ROOT}/s"), "Run scripts/x.sh.");
    world.file(
        &format!("{ROOT}/s/scripts/steps.sh"),
        "#!/bin/sh\nfor i in 1 2 3; do echo step $i; sleep 0.1; done\n",
    );
    world.file(&format!("{ROOT}/s/scripts/fails.sh"), "#!/bin/sh\necho out; echo err >&2; exit 3\n");
    world
}

/// The same with a script whose process can be told from those of all other tests.
fn endless(mark: &str) -> (World, Endless) {
    let world = world();
    world.file(&format!("{ROOT}/s/scripts/endless.sh"), ENDLESS.replace("3333.3333", mark));
    (world, Endless(mark.to_owned()))
}

struct Endless(String);

impl Endless {
    /// The processes that run it.
    fn processes(&self) -> Vec<PathBuf> {
        let is_it = |path: &PathBuf| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|word| word == self.0.as_bytes())
        };
        let all = Path::new("/proc").read_dir().unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        all.filter(is_it).collect()
    }

    async fn runs(&self) {
        until("the script runs", || !self.processes().is_empty()).await;
    }

    async fn is_gone(&self) {
        until("the script is gone", || self.processes().is_empty()).await;
    }
}

fn run(script: &str, progress: bool) -> Value {
    let mut params =
        json!({"name": "skills_run", "arguments": {"name": "s", "script": format!("scripts/{script}")}});
    if progress {
        params["_meta"] = json!({"progressToken": "p"});
    }
    params
}

/// Without what differs from run to run.
fn shown(mut result: Value) -> String {
    if let Some(structured) = result.get_mut("structuredContent") {
        structured["duration_ms"] = json!("[TIME]");
        structured["sandbox"] = json!("[TIER]");
    }
    crate::world::pretty(&result)
}

#[tokio::test]
async fn a_script_is_run_and_its_steps_are_told() {
    let world = world();
    let mut client = Client::connected(&world.running(), "2025-11-25").await;
    let tools = client.result("tools/list", json!({})).await;
    let tool = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "skills_run").unwrap();
    let result = client.result("tools/call", run("steps.sh", true)).await;
    assert_eq!(schema::wrong(&tool["outputSchema"], &result["structuredContent"]), None, "{result}");
    let told: Vec<_> =
        client.notes.drain(..).filter(|note| note["method"] == "notifications/progress").collect();
    assert!(!told.is_empty());
    let mut before = 0.0;
    for note in &told {
        assert_eq!(note["params"]["progressToken"], "p");
        let now = note["params"]["progress"].as_f64().unwrap();
        assert!(now > before, "{told:?}");
        before = now;
    }
    assert_eq!(told.last().unwrap()["params"]["message"], "step 3");
    insta::assert_snapshot!("a_script", shown(result));
    // Nobody who did not ask is told.
    client.result("tools/call", run("steps.sh", false)).await;
    assert!(client.notes.is_empty(), "{:?}", client.notes);
    let failed = client.result("tools/call", run("fails.sh", false)).await;
    assert_eq!(failed["isError"], true);
    insta::assert_snapshot!("a_script_that_fails", shown(failed));
    insta::assert_snapshot!("no_script", shown(client.result("tools/call", run("none.sh", false)).await));
}

#[tokio::test]
async fn giving_up_ends_the_script() {
    let (world, endless) = endless("3001.3001");
    let mut client = Client::connected(&world.running(), "2025-11-25").await;
    let id = client.ask("tools/call", run("endless.sh", true)).await;
    client.note("notifications/progress").await;
    endless.runs().await;
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"})).await;
    endless.is_gone().await;
    // It is not answered, and everything else is.
    assert_eq!(client.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn giving_up_ends_the_script_in_the_newest_revision() {
    let (world, endless) = endless("3002.3002");
    let server = world.running();
    let mut client = Client::inline(&server, NEWEST);
    let id = client.ask("tools/call", run("endless.sh", false)).await;
    endless.runs().await;
    client.notify("notifications/cancelled", with_meta(json!({"requestId": id}), NEWEST)).await;
    endless.is_gone().await;
    // Over HTTP, whoever hangs up has given up.
    let site = Site::of(&server).await;
    let asked = tokio::spawn(site.inline(1, "tools/call", run("endless.sh", false)).send());
    endless.runs().await;
    asked.abort();
    endless.is_gone().await;
    site.close().await;
}

#[tokio::test]
async fn giving_up_ends_the_script_of_a_session() {
    let (world, endless) = endless("3003.3003");
    let site = Site::of(&world.running()).await;
    let mut session = site.session("2025-11-25").await;
    let (reply, id) = session.ask("tools/call", run("endless.sh", true)).await;
    endless.runs().await;
    // A stream that breaks is not a client that gives up.
    drop(reply);
    session.result("tools/list", json!({})).await;
    assert!(!endless.processes().is_empty());
    session.notify("notifications/cancelled", json!({"requestId": id})).await;
    endless.is_gone().await;
    // Nor does a script outlive its session.
    let (_reply, _) = session.ask("tools/call", run("endless.sh", true)).await;
    endless.runs().await;
    session.delete().await;
    endless.is_gone().await;
    site.close().await;
}

#[tokio::test]
async fn a_session_that_is_being_answered_is_not_ended_for_another() {
    let (world, endless) = endless("3007.3007");
    let options = HttpOptions { sessions: 1, ..HttpOptions::default() };
    let site = Site::open(&world.running(), options).await;
    let mut session = site.session("2025-11-25").await;
    let (_reply, id) = session.ask("tools/call", run("endless.sh", true)).await;
    endless.runs().await;
    let begin =
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize("2025-11-25")});
    let mut refused = site.post(begin.to_string()).send().await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("30")));
    assert_eq!(refused.text().await, "too many sessions\n");
    assert!(!endless.processes().is_empty());
    session.notify("notifications/cancelled", json!({"requestId": id})).await;
    endless.is_gone().await;
    site.close().await;
}

#[tokio::test]
async fn a_client_that_goes_takes_its_scripts_along() {
    let (world, endless) = endless("3004.3004");
    let server = world.running();
    let mut client = Client::connected(&server, "2025-11-25").await;
    client.ask("tools/call", run("endless.sh", false)).await;
    endless.runs().await;
    client.vanish().await.unwrap();
    endless.is_gone().await;
    let mut client = Client::connected(&server, "2025-11-25").await;
    client.ask("tools/call", run("endless.sh", false)).await;
    endless.runs().await;
    client.leave().await.1.unwrap();
    endless.is_gone().await;
}

#[tokio::test]
async fn stopping_the_server_ends_its_scripts() {
    let (world, endless) = endless("3005.3005");
    let server = world.running();
    let site = Site::of(&server).await;
    let mut session = site.session("2025-11-25").await;
    let (_reply, _) = session.ask("tools/call", run("endless.sh", true)).await;
    endless.runs().await;
    site.close().await;
    endless.is_gone().await;
    until("nobody is there", || server.clients() == 0).await;
}
