//! Only the user decides who receives messages and skills for embeddings.

use super::TestProject;
use crate::{EmbeddingsProvider, EmbeddingsSettings};

#[test]
fn off_by_default() {
    assert_eq!(TestProject::new().load().embeddings.provider, EmbeddingsProvider::Off);
    let setup = TestProject::new().user(
        "[embeddings]\nprovider = \"ollama\"\nmodel = \"nomic-embed-text\"\nbase-url = \"http://127.0.0.1:11434\"\n\
         key-env = \"EMBED_KEY\"\nweight = 50\ntimeout-ms = 700\n",
    );
    let embeddings = setup.load().embeddings;
    assert_eq!(embeddings.provider, EmbeddingsProvider::Ollama);
    assert_eq!(embeddings.model.as_deref(), Some("nomic-embed-text"));
    assert_eq!(embeddings.base_url.as_deref(), Some("http://127.0.0.1:11434"));
    assert_eq!(embeddings.key_env.as_deref(), Some("EMBED_KEY"));
    assert_eq!((embeddings.weight, embeddings.timeout.as_millis()), (50, 700));
}

#[test]
fn a_project_cannot_configure_embeddings() {
    let setup = TestProject::new().project(
        "[embeddings]\nprovider = \"openai\"\nmodel = \"theirs\"\nbase-url = \"https://theirs.example/v1\"\n\
         allow-http = true\nkey-env = \"AWS_SECRET\"\nweight = 0\n\
         timeout-ms = 1\n",
    );
    assert_eq!(setup.load().embeddings, EmbeddingsSettings::default());
    insta::assert_snapshot!(setup.report());
}

#[test]
fn a_misplaced_api_key_is_not_repeated() {
    let setup = TestProject::new().user("[embeddings]\nkey-env = \"sk-SECRET\"\napi-key = \"sk-SECRET\"\n");
    let loaded = setup.load();
    assert!(!format!("{loaded:?}").contains("SECRET"));
    assert!(loaded.diagnostics.iter().all(|found| found.diagnostic.location.is_none()));
    insta::assert_snapshot!(setup.report());
}
