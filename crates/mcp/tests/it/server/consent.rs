//! Questions to the user of a client whether a script may run.

use prowess::Preset;
use prowess::policy::ScriptPolicy;
use prowess_mcp::http::{AccessToken, HttpOptions};
use serde_json::{Value, json};

use super::artifacts::run;
use crate::support::http::HttpTestServer;
use crate::support::stdio::StdioTestClient;
use crate::support::{NEWEST_VERSION, OLDER_VERSIONS, SKILLS_DIR, TestHome, wait_until, with_capabilities};

fn home() -> TestHome {
    let mut home = TestHome::new(Preset::Standard);
    home.policy.run.scripts = ScriptPolicy::Ask;
    for name in ["s", "t"] {
        home.write_skill(&format!("{SKILLS_DIR}/{name}"), "Run scripts/hi.sh.");
        home.write_file(&format!("{SKILLS_DIR}/{name}/scripts/hi.sh"), "#!/bin/sh\necho hi $1\n");
    }
    home
}

fn forms() -> Value {
    json!({"elicitation": {}})
}

fn accept(decision: &str) -> Value {
    json!({"action": "accept", "content": {"decision": decision}})
}

fn hi() -> Value {
    run("hi.sh", Value::Null)
}

/// Returns the output of a script, or the error.
fn outcome(result: &Value) -> String {
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
    format!("{}{text}", if result["isError"] == true { "error: " } else { "" })
}

fn has_run_tool(tools: &Value) -> bool {
    tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "skills_run")
}

/// Calls the tool, answers the question, and returns the question and the outcome.
async fn ask(client: &mut StdioTestClient, params: Value, answer: Value) -> (Value, String) {
    let id = client.send_request("tools/call", params).await;
    let question = client.notification("elicitation/create").await;
    client.answer(&question, answer).await;
    let response = client.response(id).await;
    (question, outcome(&response["result"]))
}

#[tokio::test]
async fn the_user_of_the_client_is_asked() {
    let home = home();
    for version in OLDER_VERSIONS {
        let server = home.server_with_scripts();
        let mut client = StdioTestClient::connected_with(&server, version, forms()).await;
        assert!(has_run_tool(&client.result("tools/list", json!({})).await));
        let inputs = json!([{"name": "in.txt", "text": "x"}]);
        let (question, text) = ask(&mut client, run("hi.sh", inputs), accept("once")).await;
        insta::assert_snapshot!(format!("question_{version}"), crate::support::pretty(&question["params"]));
        assert_eq!(text, "hi\n");
        // Once is once.
        let (_, text) = ask(&mut client, hi(), accept("always")).await;
        assert_eq!(text, "hi\n");
        // Always ends when the files of the skill change.
        assert_eq!(outcome(&client.result("tools/call", hi()).await), "hi\n");
        home.write_file(&format!("{SKILLS_DIR}/s/scripts/other.sh"), format!("echo {version}\n"));
        let (_, text) = ask(&mut client, hi(), accept("never")).await;
        insta::assert_snapshot!(format!("never_{version}"), text);
        assert_eq!(outcome(&client.result("tools/call", hi()).await), text);
    }
}

#[tokio::test]
async fn everything_but_a_known_answer_is_a_refusal() {
    let home = home();
    let mut client =
        StdioTestClient::connected_with(&home.server_with_scripts(), "2025-11-25", forms()).await;
    let mut texts = Vec::new();
    for answer in [
        json!({"action": "decline"}),
        json!({"action": "cancel", "content": {"decision": "once"}}),
        json!({"action": "accept"}),
        accept("forever"),
        accept("not now"),
        json!({"action": "accept", "content": {"decision": ["once"]}}),
        json!({"decision": "once"}),
        json!({}),
    ] {
        texts.push(ask(&mut client, hi(), answer).await.1);
    }
    let id = client.send_request("tools/call", hi()).await;
    let question = client.notification("elicitation/create").await;
    let error = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32603, "message": "no"}});
    client.send_line(error).await;
    texts.push(outcome(&client.response(id).await["result"]));
    texts.dedup();
    insta::assert_snapshot!(texts.join("\n"));
}

#[tokio::test]
async fn a_client_without_forms_is_not_asked() {
    let home = home();
    let server = home.server_with_scripts();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"roots": {}})] {
        let mut client = StdioTestClient::connected_with(&server, "2025-11-25", capabilities.clone()).await;
        assert!(!has_run_tool(&client.result("tools/list", json!({})).await));
        let text = outcome(&client.result("tools/call", hi()).await);
        insta::allow_duplicates!(
            insta::assert_snapshot!(text, @"error: scripts are not allowed to run; the user can allow them with run.allowed-skills, run.scripts or PROWESS_ALLOW_SCRIPTS=1")
        );
        let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
        let listed = client.result("tools/list", with_capabilities(json!({}), &capabilities)).await;
        assert!(!has_run_tool(&listed));
        assert_eq!(outcome(&client.result("tools/call", with_capabilities(hi(), &capabilities)).await), text);
    }
}

#[tokio::test]
async fn scripts_that_never_run_are_not_asked_about() {
    let mut home = home();
    home.policy.run.scripts = ScriptPolicy::Never;
    let mut client =
        StdioTestClient::connected_with(&home.server_with_scripts(), "2025-11-25", forms()).await;
    assert!(!has_run_tool(&client.result("tools/list", json!({})).await));
    assert!(outcome(&client.result("tools/call", hi()).await).starts_with("error: scripts are not allowed"));
    let mut home = self::home();
    home.policy.run.denied_skills = vec!["s".to_owned()];
    let mut client =
        StdioTestClient::connected_with(&home.server_with_scripts(), "2025-11-25", forms()).await;
    assert!(outcome(&client.result("tools/call", hi()).await).starts_with("error: "));
    assert!(client.notifications.is_empty(), "{:?}", client.notifications);
}

#[tokio::test]
async fn cancelling_the_call_withdraws_the_question() {
    let home = home();
    let server = home.server_with_scripts();
    let mut client = StdioTestClient::connected_with(&server, "2025-11-25", forms()).await;
    let id = client.send_request("tools/call", hi()).await;
    let question = client.notification("elicitation/create").await;
    client.notify("notifications/cancelled", json!({"requestId": id})).await;
    let withdrawn = client.notification("notifications/cancelled").await;
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    // A late answer has no effect.
    client.answer(&question, accept("always")).await;
    let (_, text) = ask(&mut client, hi(), accept("once")).await;
    assert_eq!(text, "hi\n");
}

#[tokio::test]
async fn a_client_that_never_answers_blocks_nothing() {
    let home = home();
    let server = home.server_with_scripts();
    let mut client = StdioTestClient::connected_with(&server, "2025-11-25", forms()).await;
    for _ in 0..8 {
        client.send_request("tools/call", hi()).await;
        client.notification("elicitation/create").await;
    }
    // A further question is not asked, and other requests are served.
    let response = client.request("tools/call", hi()).await;
    assert_eq!(response["result"]["isError"], true);
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    client.abort().await.unwrap();
    wait_until("the client is disconnected", || server.client_count() == 0).await;
}

#[tokio::test]
async fn the_user_of_a_session_is_asked() {
    let home = home();
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut session = site.session_with("2025-11-25", forms()).await;
    let mut other = site.session_with("2025-11-25", forms()).await;
    let result = session.result_with_answer(hi(), "elicitation/create", accept("once")).await;
    assert_eq!(outcome(&result), "hi\n");
    // The answer of another session does not count.
    let (mut reply, _) = session.send_request("tools/call", hi()).await;
    let question = loop {
        let message = reply.message().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let forged = json!({"jsonrpc": "2.0", "id": question["id"], "result": accept("once")});
    other.post(&forged).send().await;
    let refused = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    assert_eq!(session.post(&refused).send().await.status, 202);
    assert_eq!(reply.message().await["result"]["isError"], true);
    assert_eq!(other.result("ping", json!({})).await, json!({}));
    // Ending a session ends its questions.
    let (_reply, _) = session.send_request("tools/call", hi()).await;
    session.delete().await;
    site.stop().await;
}

/// Sends a call of the newest revision over HTTP.
async fn stateless_call(site: &HttpTestServer, params: Value) -> Value {
    let mut reply = site.stateless_request(1, "tools/call", with_capabilities(params, &forms())).send().await;
    let mut message = reply.message().await;
    assert!(message.get("error").is_none(), "{message}");
    message["result"].take()
}

/// Repeats a call with an answer.
fn answered(mut params: Value, state: &Value, answer: Value) -> Value {
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({"consent": answer});
    params
}

#[tokio::test]
async fn the_newest_revision_returns_the_question() {
    let home = home();
    let site = HttpTestServer::start(&home.server_with_scripts()).await;
    let mut asked = stateless_call(&site, hi()).await;
    let state = asked["requestState"].take();
    insta::assert_snapshot!("question_2026-07-28", crate::support::pretty(&asked));
    let ran = stateless_call(&site, answered(hi(), &state, accept("once"))).await;
    assert_eq!(outcome(&ran), "hi\n");
    // A state counts once.
    let again = stateless_call(&site, answered(hi(), &state, accept("once"))).await;
    assert_eq!(again["resultType"], "input_required");
    let declined = answered(hi(), &again["requestState"], json!({"action": "decline"}));
    assert!(outcome(&stateless_call(&site, declined).await).starts_with("error: "));
    for answer in [accept("forever"), json!(null), json!("once"), json!({"decision": "once"})] {
        let state = stateless_call(&site, hi()).await["requestState"].take();
        let refused = stateless_call(&site, answered(hi(), &state, answer)).await;
        assert!(outcome(&refused).starts_with("error: "), "{refused}");
    }
    let state = stateless_call(&site, hi()).await["requestState"].take();
    assert_eq!(outcome(&stateless_call(&site, answered(hi(), &state, accept("always"))).await), "hi\n");
    assert_eq!(outcome(&stateless_call(&site, hi()).await), "hi\n");
    site.stop().await;
}

#[tokio::test]
async fn an_answer_counts_only_for_the_call_it_is_about() {
    let home = home();
    let server = home.server_with_scripts();
    let site = HttpTestServer::start(&server).await;
    let is_asked = |result: &Value| result["resultType"] == "input_required";
    for forged in [json!(""), json!("forged"), json!("0".repeat(32)), json!(null)] {
        assert!(
            is_asked(&stateless_call(&site, answered(hi(), &forged, accept("always"))).await),
            "{forged}"
        );
    }
    let state = stateless_call(&site, hi()).await["requestState"].take();
    let mut other_skill = hi();
    other_skill["arguments"]["name"] = json!("t");
    let mut other_args = hi();
    other_args["arguments"]["args"] = json!(["x"]);
    let other_inputs = run("hi.sh", json!([{"name": "a", "text": "b"}]));
    for other in [other_skill, other_args, other_inputs] {
        assert!(
            is_asked(&stateless_call(&site, answered(other.clone(), &state, accept("once"))).await),
            "{other}"
        );
    }
    // The files of the skill change after the question.
    home.write_file(&format!("{SKILLS_DIR}/s/scripts/hi.sh"), "#!/bin/sh\necho changed\n");
    assert!(is_asked(&stateless_call(&site, answered(hi(), &state, accept("once"))).await));
    // A state of another server is unknown.
    let other = HttpTestServer::start(&home.server_with_scripts()).await;
    let state = stateless_call(&other, hi()).await["requestState"].take();
    assert!(is_asked(&stateless_call(&site, answered(hi(), &state, accept("once"))).await));
    other.stop().await;
    site.stop().await;
    // On a stream, the same rules apply.
    let mut client = StdioTestClient::stateless(&server, NEWEST_VERSION);
    let asked = client.result("tools/call", with_capabilities(hi(), &forms())).await;
    let answer = answered(hi(), &asked["requestState"], accept("once"));
    let ran = client.result("tools/call", with_capabilities(answer, &forms())).await;
    assert_eq!(outcome(&ran), "changed\n");
}

/// Sends a request of the newest revision with the token of a shared server.
async fn call_with_token(site: &HttpTestServer, method: &str, params: Value) -> Value {
    let request = site.stateless_request(1, method, with_capabilities(params, &forms()));
    let mut reply = request.with("Authorization", format!("Bearer {TOKEN}")).send().await;
    reply.expect_status(200).await;
    reply.message().await["result"].take()
}

const TOKEN: &str = "token-0123456789abcdef";

#[tokio::test]
async fn the_clients_of_a_shared_server_cannot_allow_scripts() {
    let home = home();
    let options = HttpOptions { token: AccessToken::parse(TOKEN).ok(), ..HttpOptions::default() };
    let site = HttpTestServer::start_with(&home.server_with_scripts(), options).await;
    assert!(!has_run_tool(&call_with_token(&site, "tools/list", json!({})).await));
    let refused = call_with_token(&site, "tools/call", hi()).await;
    insta::assert_snapshot!(outcome(&refused), @"error: scripts are not allowed to run; the user can allow them with run.allowed-skills, run.scripts or PROWESS_ALLOW_SCRIPTS=1");
    let forged = answered(hi(), &json!("0".repeat(32)), accept("always"));
    assert_eq!(outcome(&call_with_token(&site, "tools/call", forged).await), outcome(&refused));
    site.stop().await;
}
