//! Semantic similarity in addition to words: embedding, caching, and failures.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use prowess::Preset;
use prowess::usage::SkillUsage;
use prowess_routing::semantic::{EmbedError, Embedder, Purpose, SemanticStage};
use prowess_routing::{MatchKind, RouteOptions, Router, Routing};
use prowess_testing::registry_env::{RegistryEnv, skill_md};

/// Words of one row have the same meaning.
const MEANINGS: [&[&str]; 4] = [
    &["invoice", "invoices", "billing"],
    &["pdf", "documents", "merges"],
    &["weather", "forecast", "umbrella"],
    &["deploys", "release"],
];

/// A model that knows a few words, and can be set to fail.
#[derive(Debug, Default)]
struct Model {
    sent: Mutex<Vec<String>>,
    failure: Mutex<Option<EmbedError>>,
    extra_dimensions: Mutex<usize>,
    name: Mutex<String>,
}

impl Model {
    fn sent(&self) -> Vec<String> {
        let names = self.sent.lock().unwrap().drain(..).collect::<Vec<_>>();
        names.iter().map(|text| text.lines().next().unwrap().to_owned()).collect()
    }

    fn fail(&self, error: Option<EmbedError>) {
        *self.failure.lock().unwrap() = error;
    }
}

impl Embedder for Model {
    fn identity(&self) -> Result<String, EmbedError> {
        Ok(self.name.lock().unwrap().clone())
    }

    fn batch_size(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.sent.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        if let Some(error) = &*self.failure.lock().unwrap() {
            return Err(error.clone());
        }
        let vector = |text: &&str| {
            let text = text.to_lowercase();
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            let has = |row: &&[&str]| words.iter().filter(|word| row.contains(word)).count() as f32;
            let more = *self.extra_dimensions.lock().unwrap();
            MEANINGS.iter().map(has).chain(vec![0.1; 1 + more]).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn test_project() -> RegistryEnv {
    let mut project = RegistryEnv::new(Preset::Standard);
    project.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    project.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    for (name, about) in [
        ("ledger", "Keeps invoices in order."),
        ("paper", "Merges documents into one."),
        ("sky", "Tells the forecast."),
        ("rollout", "Deploys what was built."),
    ] {
        project.file(&format!(".agents/skills/{name}/SKILL.md"), skill_md(name, about));
    }
    project
}

fn router(
    project: &RegistryEnv,
    model: &Arc<Model>,
    cache_dir: Option<&Path>,
) -> (Router, Arc<SemanticStage>) {
    let semantic = Arc::new(SemanticStage::new(Arc::<Model>::clone(model)));
    let router = Router::new(project.snapshot()).with_cache_dir(cache_dir.map(Path::to_path_buf));
    (router.with_semantic(Some(Arc::clone(&semantic))), semantic)
}

fn route(router: &Router, query: &str) -> Routing {
    router.route(query, &RouteOptions::new(&SkillUsage::default(), 0))
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "vectors")).collect()
}

#[test]
fn similarity_finds_skills_without_common_words_but_without_confidence() {
    let (project, model) = (test_project(), Arc::new(Model::default()));
    let (router, semantic) = router(&project, &model, None);
    let routing = route(&router, "my billing is a mess");
    let first = &routing.matches[0];
    assert_eq!((&*first.name, first.kind), ("ledger", MatchKind::Semantic));
    assert_eq!(first.reasons, ["close in meaning: 1.00"]);
    assert!(!routing.is_confident() && routing.full_count == 0);

    // Both words and meaning match: both reasons are given.
    let routing = route(&router, "the forecast: will I need an umbrella");
    assert_eq!(routing.matches[0].name, "sky");
    insta::assert_snapshot!(routing.matches[0].reasons.join("\n"));
    assert_eq!(semantic.take_warnings(), [] as [&str; 0]);

    // Without the stage nothing is found, because no word matches.
    let plain = Router::new(project.snapshot());
    assert!(route(&plain, "my billing is a mess").matches.is_empty());
}

#[test]
fn a_mention_by_name_ranks_before_similar_skills() {
    let (project, model) = (test_project(), Arc::new(Model::default()));
    let (router, _) = router(&project, &model, None);
    let routing = route(&router, "/sky tell me of billing invoices");
    let names: Vec<_> = routing.matches.iter().map(|found| &*found.name).collect();
    assert_eq!(names, ["sky", "ledger"]);
    assert_eq!(routing.matches[0].kind, MatchKind::Explicit);
}

#[test]
fn vectors_are_cached_and_only_changed_texts_are_embedded_again() {
    let (project, model, temp) = (test_project(), Arc::new(Model::default()), tempfile::tempdir().unwrap());
    let dir = temp.path().join("index");
    let route_once = |project: &RegistryEnv| {
        let (router, semantic) = router(project, &model, Some(&dir));
        let routing = route(&router, "billing");
        assert_eq!(semantic.take_warnings(), [] as [&str; 0]);
        (routing, model.sent())
    };
    let (first, sent) = route_once(&project);
    assert_eq!(sent, ["ledger", "paper", "rollout", "sky", "billing"]);
    let file = files(&dir).pop().unwrap();
    let bytes = fs::read(&file).unwrap();

    // Another process reads the file, and only embeds the message.
    assert_eq!(route_once(&project), (first.clone(), vec!["billing".to_owned()]));
    // A touched file has the same text.
    let path = ".agents/skills/sky/SKILL.md";
    project.file(path, skill_md("sky", "Tells the forecast.") + "\nMore.\n");
    assert_eq!(route_once(&project).1, ["billing"]);
    project.file(path, skill_md("sky", "Tells when it rains."));
    assert_eq!(route_once(&project).1, ["sky", "billing"]);
    assert_eq!(route_once(&project).1, ["billing"]);

    // Truncated, changed or something else: embedded again.
    for damage in [bytes[..bytes.len() / 2].to_vec(), Vec::new(), b"foreign".to_vec(), vec![0; 4096]] {
        fs::write(&file, damage).unwrap();
        assert_eq!(route_once(&project).1, ["ledger", "paper", "rollout", "sky", "billing"]);
        assert_eq!(route_once(&project).1, ["billing"]);
    }
    // Another model has its own file.
    *model.name.lock().unwrap() = "another".to_owned();
    assert_eq!(route_once(&project).1.len(), 5);
    assert_eq!(files(&dir).len(), 2);
    *model.name.lock().unwrap() = String::new();
    assert_eq!(route_once(&project).1, ["billing"]);
}

#[test]
fn vectors_that_cannot_be_cached_are_embedded_again_without_a_warning() {
    let (project, model, temp) = (test_project(), Arc::new(Model::default()), tempfile::tempdir().unwrap());
    let dir = temp.path().join("index");
    fs::write(&dir, "a file").unwrap();
    for _ in 0..2 {
        let (router, semantic) = router(&project, &model, Some(&dir));
        assert_eq!(route(&router, "billing").matches[0].name, "ledger");
        assert_eq!(model.sent().len(), 5);
        assert_eq!(semantic.take_warnings(), [] as [&str; 0]);
    }
}

#[test]
fn after_a_failure_only_words_are_compared_with_one_warning() {
    let (project, model) = (test_project(), Arc::new(Model::default()));
    let plain = route(&Router::new(project.snapshot()), "merges documents");
    let (router, semantic) = router(&project, &model, None);
    model.fail(Some(EmbedError::Failed("models.example timed out".to_owned())));
    for _ in 0..3 {
        assert_eq!(route(&router, "merges documents"), plain);
    }
    // The stage pauses, so that messages do not wait for an unavailable model.
    assert_eq!(model.sent().len(), 2);
    assert_eq!(
        semantic.take_warnings(),
        ["semantic routing is unavailable, using words only: models.example timed out"]
    );
    assert_eq!(semantic.take_warnings(), [] as [&str; 0]);
}

#[test]
fn invalid_vectors_are_rejected() {
    let project = test_project();
    let plain = route(&Router::new(project.snapshot()), "merges documents");
    let mut warnings = Vec::new();
    let (model, temp) = (Arc::new(Model::default()), tempfile::tempdir().unwrap());
    let (ready, semantic) = router(&project, &model, Some(temp.path()));
    assert!(ready.prepare());
    *model.extra_dimensions.lock().unwrap() = 1;
    assert_eq!(route(&ready, "merges documents"), plain);
    warnings.extend(semantic.take_warnings());
    for error in [
        EmbedError::NotANumber,
        EmbedError::Count { expected: 2, actual: 1 },
        EmbedError::Length(0),
        EmbedError::Dimensions { expected: 5, actual: 6 },
    ] {
        let model = Arc::new(Model::default());
        model.fail(Some(error));
        let (router, semantic) = router(&project, &model, None);
        assert!(!router.prepare());
        assert_eq!(route(&router, "merges documents"), plain);
        warnings.extend(semantic.take_warnings());
    }
    insta::assert_snapshot!(warnings.join("\n"));
}

#[test]
fn partial_vectors_are_cached_but_not_used() {
    let (project, temp) = (test_project(), tempfile::tempdir().unwrap());
    /// Fails after the first batch.
    #[derive(Debug)]
    struct FailsLater(Model);
    impl Embedder for FailsLater {
        fn identity(&self) -> Result<String, EmbedError> {
            self.0.identity()
        }
        fn batch_size(&self) -> usize {
            2
        }
        fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
            let vectors = self.0.embed(texts, purpose);
            self.0.fail(Some(EmbedError::Failed("enough".to_owned())));
            vectors
        }
    }
    let failing = Arc::new(SemanticStage::new(Arc::new(FailsLater(Model::default()))));
    let dir = Some(temp.path().to_path_buf());
    let router_of =
        |semantic| Router::new(project.snapshot()).with_cache_dir(dir.clone()).with_semantic(Some(semantic));
    assert!(route(&router_of(Arc::clone(&failing)), "billing").matches.is_empty());
    assert_eq!(failing.take_warnings(), ["semantic routing is unavailable, using words only: enough"]);
    // The next one continues where it ended.
    let model = Arc::new(Model::default());
    let (router, _) = router(&project, &model, Some(temp.path()));
    assert_eq!(route(&router, "billing").matches[0].name, "ledger");
    assert_eq!(model.sent(), ["rollout", "sky", "billing"]);
}
