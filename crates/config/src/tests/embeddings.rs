//! Who learns what is said and what skills there are is the user's to say.

use super::World;
use crate::{Embeddings, EmbeddingsProvider};

#[test]
fn off_unless_the_user_says_otherwise() {
    assert_eq!(World::new().load().embeddings.provider, EmbeddingsProvider::Off);
    let world = World::new().user(
        "[embeddings]\nprovider = \"ollama\"\nmodel = \"nomic-embed-text\"\nbase-url = \"http://127.0.0.1:11434\"\n\
         key-env = \"EMBED_KEY\"\nweight = 50\ntimeout-ms = 700\n",
    );
    let embeddings = world.load().embeddings;
    assert_eq!(embeddings.provider, EmbeddingsProvider::Ollama);
    assert_eq!(embeddings.model.as_deref(), Some("nomic-embed-text"));
    assert_eq!(embeddings.base_url.as_deref(), Some("http://127.0.0.1:11434"));
    assert_eq!(embeddings.key_env.as_deref(), Some("EMBED_KEY"));
    assert_eq!((embeddings.weight, embeddings.timeout.as_millis()), (50, 700));
}

#[test]
fn a_project_says_nothing_of_it() {
    let world = World::new().project(
        "[embeddings]\nprovider = \"openai\"\nmodel = \"theirs\"\nbase-url = \"https://theirs.example/v1\"\n\
         allow-http = true\nkey-env = \"AWS_SECRET\"\nweight = 0\n\
         timeout-ms = 1\n",
    );
    assert_eq!(world.load().embeddings, Embeddings::default());
    insta::assert_snapshot!(world.said());
}

#[test]
fn a_key_in_the_wrong_place_is_not_repeated() {
    let world = World::new().user("[embeddings]\nkey-env = \"sk-SECRET\"\napi-key = \"sk-SECRET\"\n");
    let loaded = world.load();
    assert!(!format!("{loaded:?}").contains("SECRET"));
    assert!(loaded.diagnostics.iter().all(|said| said.diagnostic.at.is_none()));
    insta::assert_snapshot!(world.said());
}
