//! Runs the conformance fixture through the chat API, with every provider protocol, on both databases.

use crate::support::stream::{event_kinds, is_contiguous, streamed_text};
use crate::support::{ServeChats, TestStore, both, message_text, project_with_model};
use prowess::Preset;
use prowess_config::{ChatProvider, ToolCalling};
use prowess_testing::model::wire_format::{
    PROVIDERS, ReplyPart, call, encode_reply, system_prompt, text, tool_results,
};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::{Value, json};

const NAME: &str = "skills-system-validation";
const BODY: &str = "PROWESS_SKILL_MARKER_7F3A91D2";
const FILES: [(&str, &str); 3] = [
    ("references/REFERENCE.md", "PROWESS_REFERENCE_MARKER_C25E08B4"),
    ("assets/fixture.json", "PROWESS_ASSET_MARKER_4B6D17E9"),
    ("scripts/echo.sh", "PROWESS_SCRIPT_MARKER_E9810C5F"),
];

both![
    s004_24_s004_12_s004_15_s004_16_implicit_invocation_over_http,
    s004_24_s004_13_s004_19_explicit_invocation_over_http,
    s004_24_s004_14_a_model_that_cannot_call_tools_over_http,
];

fn read(id: &'static str, path: &str) -> ReplyPart {
    call(id, "skills_readResource", json!({"name": NAME, "path": path}))
}

/// The replies of a model that follows the procedure; the calls of a step are interleaved.
fn steps(provider: ChatProvider, explicit: bool) -> Vec<Reply> {
    let mut steps = vec![
        vec![text("Ich prüfe das jetzt. "), call("c1", "skills_activate", json!({"name": NAME}))],
        vec![
            call("c2", "skills_activate", json!({"name": "no-such-skill-here"})),
            read("c3", FILES[0].0),
            read("c4", FILES[1].0),
            read("c5", FILES[2].0),
        ],
        vec![
            read("c6", "../SKILL.md"),
            read("c7", "/etc/passwd"),
            read("c8", "references/../../../../etc/passwd"),
        ],
        vec![read("c9", FILES[0].0)],
        vec![text("Result: PASS ✓")],
    ];
    if explicit {
        steps.remove(0);
    }
    // Chunks of seven bytes split characters, names and JSON.
    steps.iter().map(|step| Reply::chunked(encode_reply(provider, step), 7)).collect()
}

async fn s004_24_s004_12_s004_15_s004_16_implicit_invocation_over_http(test_store: &mut TestStore) {
    for provider in PROVIDERS {
        for preset in [Preset::Chat, Preset::Standard, Preset::Harness, Preset::Triggers] {
            procedure(test_store, preset, provider, false).await;
        }
    }
}

async fn s004_24_s004_13_s004_19_explicit_invocation_over_http(test_store: &mut TestStore) {
    for provider in PROVIDERS {
        for preset in [Preset::Chat, Preset::Standard] {
            procedure(test_store, preset, provider, true).await;
        }
    }
}

async fn procedure(test_store: &TestStore, preset: Preset, provider: ChatProvider, explicit: bool) {
    let model = ModelServer::start(steps(provider, explicit)).await;
    let env = project_with_model(preset, provider, &model.base);
    env.fixture();
    let site = test_store.serve(&env).await;
    let chat = site.chat().await;
    let message =
        if explicit { format!("/{NAME} run all steps") } else { "Validate the skills system".to_owned() };
    let all = site.say(&chat, &message).await.all().await;

    assert!(is_contiguous(&all), "{all:?}");
    let answered = if explicit { "Result: PASS ✓" } else { "Ich prüfe das jetzt. Result: PASS ✓" };
    assert_eq!(streamed_text(&all), answered);
    let observed: Vec<&str> = all
        .iter()
        .filter(|received| received.event == "tool_result")
        .map(|received| received.data["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        observed,
        ["success", "error", "success", "success", "success", "error", "error", "error", "success"]
    );
    let done = all.last().unwrap();
    assert_eq!((done.event.as_str(), &done.data["reason"]), ("done", &json!("end")));
    assert_eq!(done.data["activated_skill_names"], json!([NAME]));
    assert!(done.data["usage"]["output"].as_u64().is_some_and(|tokens| tokens > 0), "{done:?}");

    // The model receives names first, the body on activation, each file on request, and nothing from outside the skill.
    let requests = model.requests();
    let first = system_prompt(provider, &requests[0]);
    assert!(first.contains(NAME) && !first.contains("_MARKER_"), "{first}");
    let results = tool_results(provider, requests.last().unwrap());
    assert!(results[0].1.contains(BODY), "{results:?}");
    assert!(FILES.iter().all(|(_, marker)| !results[0].1.contains(marker)), "the body only");
    let ids: Vec<_> = results[1..].iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"]);
    assert!(results[1].1.contains("skill no-such-skill-here not found"));
    for ((_, marker), (_, content)) in FILES.iter().zip(&results[2..5]) {
        assert!(content.contains(marker) && content.matches("_MARKER_").count() == 1);
    }
    for (id, text) in &results[5..8] {
        assert!(!text.contains("root:") && !text.contains("_MARKER_"), "{id}: {text}");
    }
    assert!(results[8].1.contains(FILES[0].1), "a rejected call breaks nothing");

    // Events and stored messages have names and digests, but no text of the skill.
    let kept = site.get(&format!("/api/chats/{chat}")).await;
    assert_eq!(kept["activated_skill_names"], json!([NAME]));
    assert_eq!(
        (message_text(&kept["messages"][1]).as_str(), &kept["messages"][1]["state"]),
        (answered, &json!("complete"))
    );
    let received: Vec<&Value> = all.iter().map(|received| &received.data).collect();
    for whole in [kept.to_string(), json!(received).to_string()] {
        assert!(!whole.contains("_MARKER_") && whole.contains("text_digest"), "{whole}");
    }
    if explicit {
        assert_eq!(event_kinds(&all)[..2], ["tool_call", "tool_result"]);
        assert!(all[0].data["id"].as_str().unwrap().starts_with("mention_"));
        assert_eq!(kept["title"], json!(message));
    }
}

async fn s004_24_s004_14_a_model_that_cannot_call_tools_over_http(test_store: &mut TestStore) {
    for provider in PROVIDERS {
        // Tools are either disabled in the configuration or rejected by the provider.
        for tools in [ToolCalling::Off, ToolCalling::Auto] {
            let spoken = encode_reply(provider, &[text("I read the marker.")]);
            let model = ModelServer::with_handler(move |request, _| match request.body.get("tools") {
                Some(_) => {
                    Reply::failure(400, r#"{"error":{"message":"this model does not support tools"}}"#)
                }
                None => Reply::chunked(spoken.clone(), 5),
            });
            let model = model.await;
            let mut env = project_with_model(Preset::Chat, provider, &model.base);
            env.chat.tools = tools;
            env.fixture();
            let site = test_store.serve(&env).await;
            let chat = site.chat().await;
            let all = site.say(&chat, &format!("/{NAME} what is your marker?")).await.all().await;
            assert_eq!(streamed_text(&all), "I read the marker.");
            assert_eq!(all.last().unwrap().data["activated_skill_names"], json!([NAME]));
            site.say(&chat, "and what else?").await.all().await;

            let requests = model.requests();
            let without: Vec<_> =
                requests.iter().filter(|request| request.body.get("tools").is_none()).collect();
            assert_eq!(without.len(), 2);
            assert!(system_prompt(provider, without[0]).contains(BODY), "the first request has the body");
            let later = without[1].body.to_string();
            assert!(!later.contains("_MARKER_"), "later requests do not");
            assert!(tool_results(provider, without[1]).is_empty());
            assert!(later.contains("what is your marker?") && !later.contains(&format!("/{NAME}")));
            assert!(!system_prompt(provider, without[1]).contains("skills_activate"));
        }
    }
}
