//! The procedure of the conformance fixture with the tools of presets `app` and `skill-tool`. The server's tests cover the
//! other presets.

use crate::support::{StartConversation, TestEnv};
use prowess::Preset;
use prowess_chat::EndReason;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{PROVIDERS, call, text, tool_results};
use serde_json::json;

const NAME: &str = "skills-system-validation";
const BODY: &str = "PROWESS_SKILL_MARKER_7F3A91D2";

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
        let server = ModelServer::scripted(provider, &steps).await;
        let env = TestEnv::new(Preset::App).with_provider(provider, &server.base);
        env.fixture();
        let mut talk = env.start();
        assert_eq!(talk.send("validate").await.end, Ok(EndReason::Finished));
        let read = tool_results(provider, &server.requests()[1]);
        assert!(read[0].1.contains(BODY) && read[1].1.contains("PROWESS_REFERENCE_MARKER_C25E08B4"));

        let steps = [vec![call("c1", "Skill", json!({"name": NAME}))], vec![text("PASS")]];
        let server = ModelServer::scripted(provider, &steps).await;
        let env = TestEnv::new(Preset::SkillTool).with_provider(provider, &server.base);
        env.fixture();
        let mut talk = env.start();
        assert_eq!(talk.send("validate").await.activated, [NAME]);
        assert!(tool_results(provider, &server.requests()[1])[0].1.contains(BODY));
    }
}
