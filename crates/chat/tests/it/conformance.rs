//! The procedure of the conformance fixture, through the turn loop, with every provider.

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;
use prowess_config::{ChatProvider, ToolCalling};
use prowess_testing::model::wire_format::{
    PROVIDERS, ReplyPart, call, encode_reply, system_prompt, text, tool_results,
};
use prowess_testing::model::{ModelServer, Reply};
use serde_json::json;

const NAME: &str = "skills-system-validation";
const BODY: &str = "PROWESS_SKILL_MARKER_7F3A91D2";
const FILES: [(&str, &str); 3] = [
    ("references/REFERENCE.md", "PROWESS_REFERENCE_MARKER_C25E08B4"),
    ("assets/fixture.json", "PROWESS_ASSET_MARKER_4B6D17E9"),
    ("scripts/echo.sh", "PROWESS_SCRIPT_MARKER_E9810C5F"),
];

fn read(id: &'static str, path: &str) -> ReplyPart {
    call(id, "skills_readResource", json!({"name": NAME, "path": path}))
}

/// Returns the steps of a model that follows the procedure.
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
    // Pieces of seven bytes split characters, names and JSON anywhere.
    steps.iter().map(|step| Reply::chunked(encode_reply(provider, step), 7)).collect()
}

async fn implicit_and_explicit(preset: Preset, provider: ChatProvider, explicit: bool) {
    let server = ModelServer::start(steps(provider, explicit)).await;
    let env = TestEnv::new(preset).with_provider(provider, &server.base);
    env.fixture();
    let mut conversation = env.start();
    let message =
        if explicit { format!("/{NAME} run all steps") } else { "Validate the skills system".to_owned() };
    let outcome = conversation.send(&message).await;
    assert_eq!((outcome.end, outcome.activated), (Ok(EndReason::Finished), vec![NAME.to_owned()]));
    assert_eq!(
        conversation.reply_text(),
        if explicit { "Result: PASS ✓" } else { "Ich prüfe das jetzt. Result: PASS ✓" }
    );

    let requests = server.requests();
    // Step 1: metadata only. With an explicit mention, the body is in the conversation, but not in the system prompt.
    let first = system_prompt(provider, &requests[0]);
    assert!(first.contains(NAME) && !first.contains("_MARKER_"), "{first}");
    let offset = usize::from(!explicit);
    let activated = &tool_results(provider, &requests[offset])[0].1;
    assert!(activated.contains(BODY) && FILES.iter().all(|(_, marker)| !activated.contains(marker)));
    // Steps 2 and 3.
    let read: Vec<_> = tool_results(provider, &requests[offset + 1]).split_off(1);
    assert_eq!(read.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["c2", "c3", "c4", "c5"]);
    assert!(read[0].1.contains("skill no-such-skill-here not found"));
    for ((_, marker), (_, content)) in FILES.iter().zip(&read[1..]) {
        assert!(content.contains(marker) && content.matches("_MARKER_").count() == 1);
    }
    // Steps 4 and the rest.
    let last = tool_results(provider, &requests[offset + 3]);
    for (id, text) in &last[5..8] {
        assert!(!text.contains("root:") && !text.contains("_MARKER_"), "{id}: {text}");
    }
    assert!(last[8].1.contains(FILES[0].1));
    let statuses: Vec<String> = conversation.results().iter().map(|(_, status, _)| status.clone()).collect();
    assert_eq!(
        statuses,
        ["success", "error", "success", "success", "success", "error", "error", "error", "success"]
    );
    // No text is stored, only digests.
    let stored = serde_json::to_string(&conversation.chat.messages).unwrap();
    assert!(!stored.contains("_MARKER_") && stored.contains("text_digest"), "{stored}");
}

#[tokio::test]
async fn s004_24_s004_12_implicit_invocation_with_every_provider() {
    for provider in PROVIDERS {
        for preset in [Preset::Chat, Preset::Standard, Preset::Harness, Preset::Triggers] {
            implicit_and_explicit(preset, provider, false).await;
        }
    }
}

#[tokio::test]
async fn s004_24_s004_13_explicit_invocation_with_every_provider() {
    for provider in PROVIDERS {
        for preset in [Preset::Chat, Preset::Standard] {
            implicit_and_explicit(preset, provider, true).await;
        }
    }
}

#[tokio::test]
async fn s004_24_s004_14_a_model_that_cannot_call_tools_with_every_provider() {
    for provider in PROVIDERS {
        for tools in [ToolCalling::Off, ToolCalling::Auto] {
            let reply = encode_reply(provider, &[text("I read the marker.")]);
            let server = ModelServer::with_handler(move |request, _| match request.body.get("tools") {
                Some(_) => Reply::failure(400, r#"{"error": {"message": "model-1 does not support tools"}}"#),
                None => Reply::chunked(reply.clone(), 5),
            });
            let server = server.await;
            let mut env = TestEnv::new(Preset::Chat).with_provider(provider, &server.base);
            env.chat.tools = tools;
            env.fixture();
            let mut conversation = env.start();
            let outcome = conversation.send(&format!("/{NAME} what is your marker?")).await;
            assert_eq!((outcome.end, outcome.activated), (Ok(EndReason::Finished), vec![NAME.to_owned()]));
            assert_eq!(conversation.reply_text(), "I read the marker.");
            conversation.send("and what else?").await;

            let requests: Vec<_> =
                server.requests().into_iter().filter(|request| request.body.get("tools").is_none()).collect();
            assert_eq!(requests.len(), 2, "at most one request has tools");
            assert!(system_prompt(provider, &requests[0]).contains(BODY), "the first request has the body");
            let body = requests[1].body.to_string();
            assert!(!body.contains("_MARKER_"), "only the first request has it");
            assert!(tool_results(provider, &requests[1]).is_empty());
            assert!(body.contains("what is your marker?") && !body.contains(&format!("/{NAME}")));
            assert!(!system_prompt(provider, &requests[1]).contains("skills_activate"));
        }
    }
}

#[tokio::test]
async fn s000_06_s001_16_the_procedure_with_read_file_and_skill() {
    for provider in PROVIDERS {
        let path = format!(".agents/skills/{NAME}/SKILL.md");
        let file = format!(".agents/skills/{NAME}/references/REFERENCE.md");
        let steps = [
            vec![
                call("c1", "ReadFile", json!({"path": path})),
                call("c2", "ReadFile", json!({"path": file})),
            ],
            vec![text("PASS")],
        ];
        let server =
            ModelServer::start(steps.iter().map(|step| Reply::events(encode_reply(provider, step)))).await;
        let env = TestEnv::new(Preset::App).with_provider(provider, &server.base);
        env.fixture();
        let mut conversation = env.start();
        assert_eq!(conversation.send("validate").await.end, Ok(EndReason::Finished));
        let read = tool_results(provider, &server.requests()[1]);
        assert!(read[0].1.contains(BODY) && read[1].1.contains(FILES[0].1));

        let steps = [vec![call("c1", "Skill", json!({"name": NAME}))], vec![text("PASS")]];
        let server =
            ModelServer::start(steps.iter().map(|step| Reply::events(encode_reply(provider, step)))).await;
        let env = TestEnv::new(Preset::SkillTool).with_provider(provider, &server.base);
        env.fixture();
        let mut conversation = env.start();
        assert_eq!(conversation.send("validate").await.activated, [NAME]);
        assert!(tool_results(provider, &server.requests()[1])[0].1.contains(BODY));
    }
}
