//! Turns in a chat with files.

use std::sync::{Arc, Mutex};

use crate::support::{StartConversation, TestEnv};
use prowess::{ErrorCode, Preset};
use prowess_chat::TurnEvent;
use prowess_chat::turn::{MemoryRecorder, TurnInput};
use prowess_config::ChatProvider;
use prowess_testing::model::ModelServer;
use prowess_testing::model::wire_format::{PROVIDERS, call, text};
use prowess_tools::{WorkspaceChanges, WorkspaceError, WorkspaceFile, WorkspaceFiles};
use serde_json::{Value, json};

/// Files with these paths; each listing adds one more. Without paths, the files cannot be listed.
#[derive(Default)]
struct GrowingFiles(Mutex<Vec<String>>);

impl WorkspaceFiles for GrowingFiles {
    fn list(&self) -> Result<Vec<WorkspaceFile>, WorkspaceError> {
        let mut paths = self.0.lock().unwrap();
        if paths.is_empty() {
            let error = std::io::Error::other("the address of the store");
            return Err(WorkspaceError::Unavailable(Box::new(error)));
        }
        let listed = paths.clone();
        let next = format!("more-{}.txt", paths.len());
        paths.push(next);
        let file = |path| WorkspaceFile {
            path,
            size: 7,
            media_type: "text/plain".to_owned(),
            digest: "sha256:00".to_owned(),
        };
        Ok(listed.into_iter().map(file).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, WorkspaceError> {
        Err(WorkspaceError::NotFound(path.to_owned()))
    }

    fn apply(&self, _: WorkspaceChanges) -> Result<(), WorkspaceError> {
        Ok(())
    }
}

#[tokio::test]
async fn the_list_of_files_is_the_same_in_all_requests_of_a_turn() {
    for provider in PROVIDERS {
        let steps = [vec![call("c1", "skills_activate", json!({"name": "a"}))], vec![text("Done.")]];
        let server = ModelServer::scripted(provider, &steps).await;
        let env = TestEnv::new(Preset::Standard).with_provider(provider, &server.base);
        env.skill("a", "Do it well.");
        let conversation = env.start();
        let files: Arc<dyn WorkspaceFiles> = Arc::new(GrowingFiles(Mutex::new(vec!["a.csv".to_owned()])));
        let attached = ["a.csv".to_owned(), "deleted.csv".to_owned()];
        let (text, workspace) = ("Sum it up.", Some(&files));
        let input = TurnInput { chat: "c", text, attached: &attached, workspace, ..TurnInput::default() };
        let mut record = MemoryRecorder::default();
        conversation.agent.turn(input, &mut record, &mut |_| {}, &conversation.cancel).await;
        let list = if provider == ChatProvider::OpenAi { "input" } else { "messages" };
        let requests = server.requests();
        let entries = |index: usize| requests[index].body[list].as_array().unwrap().clone();
        let (first, second) = (entries(0), entries(1));
        // Markers for a cache move to the last entry.
        let plain = |entry: &Value| entry.to_string().replace(r#""cache_control":{"type":"ephemeral"},"#, "");
        assert_eq!(first.len(), requests[0].body[list].as_array().unwrap().len());
        assert!(first.iter().zip(&second).all(|(before, after)| plain(before) == plain(after)));
        let asked = requests[0].body.to_string();
        assert_eq!(asked.matches("Files attached to this message").count(), 1);
        assert!(asked.contains("has 1 file.") && !asked.contains("deleted.csv") && !asked.contains("more-"));
        assert!(!requests[0].body["system"].to_string().contains("a.csv"));
    }
}

#[tokio::test]
async fn a_workspace_that_cannot_be_listed_ends_the_turn() {
    let server = ModelServer::scripted(ChatProvider::OpenAiChat, &[vec![text("x")]]).await;
    let env = TestEnv::new(Preset::Chat).with_provider(ChatProvider::OpenAiChat, &server.base);
    let conversation = env.start();
    let files: Arc<dyn WorkspaceFiles> = Arc::new(GrowingFiles::default());
    let input = TurnInput { chat: "c", text: "go", workspace: Some(&files), ..TurnInput::default() };
    let (mut record, mut events) = (MemoryRecorder::default(), Vec::new());
    let report = conversation
        .agent
        .turn(input, &mut record, &mut |event| events.push(event), &conversation.cancel)
        .await;
    assert_eq!(report.end.unwrap_err().code(), ErrorCode::Unavailable);
    // The address of the store is not shown.
    let message = "cannot access the workspace".to_owned();
    assert_eq!(events, [TurnEvent::Error { code: "UNAVAILABLE".to_owned(), message }]);
    assert_eq!(server.requests().len(), 0);
}
