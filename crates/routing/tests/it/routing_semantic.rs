//! Closeness in meaning beside words: what is embedded when, what is kept, and what happens where it fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use prowess::Preset;
use prowess::usage::Usage;
use prowess_routing::semantic::{EmbedError, Embedder, Purpose, Semantic};
use prowess_routing::{MatchKind, Options, Router, Routing};
use prowess_testing::library::{World, skill_md};

/// Words of one row mean the same.
const MEANINGS: [&[&str]; 4] = [
    &["invoice", "invoices", "billing"],
    &["pdf", "documents", "merges"],
    &["weather", "forecast", "umbrella"],
    &["deploys", "release"],
];

/// Knows what a few words mean, and can be told to fail.
#[derive(Debug, Default)]
struct Model {
    sent: Mutex<Vec<String>>,
    fails: Mutex<Option<EmbedError>>,
    /// How many numbers its vectors have more.
    longer: Mutex<usize>,
    name: Mutex<String>,
}

impl Model {
    fn sent(&self) -> Vec<String> {
        let names = self.sent.lock().unwrap().drain(..).collect::<Vec<_>>();
        names.iter().map(|text| text.lines().next().unwrap().to_owned()).collect()
    }

    fn fail(&self, error: Option<EmbedError>) {
        *self.fails.lock().unwrap() = error;
    }
}

impl Embedder for Model {
    fn identity(&self) -> Result<String, EmbedError> {
        Ok(self.name.lock().unwrap().clone())
    }

    fn batch(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.sent.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        if let Some(error) = &*self.fails.lock().unwrap() {
            return Err(error.clone());
        }
        let vector = |text: &&str| {
            let text = text.to_lowercase();
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
            let has = |row: &&[&str]| words.iter().filter(|word| row.contains(word)).count() as f32;
            let more = *self.longer.lock().unwrap();
            MEANINGS.iter().map(has).chain(vec![0.1; 1 + more]).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

fn world() -> World {
    let mut world = World::new(Preset::Standard);
    world.policy.scan.roots.retain(|root| root.to_string() != "bundled");
    world.policy.trust = prowess::policy::ProjectTrust::NotNeeded;
    for (name, about) in [
        ("ledger", "Keeps invoices in order."),
        ("paper", "Merges documents into one."),
        ("sky", "Tells the forecast."),
        ("rollout", "Deploys what was built."),
    ] {
        world.file(&format!(".agents/skills/{name}/SKILL.md"), skill_md(name, about));
    }
    world
}

fn router(world: &World, model: &Arc<Model>, folder: Option<&Path>) -> (Router, Arc<Semantic>) {
    let semantic = Arc::new(Semantic::new(Arc::<Model>::clone(model)));
    let router = Router::new(world.snapshot()).keeping(folder.map(Path::to_path_buf));
    (router.with_semantic(Some(Arc::clone(&semantic))), semantic)
}

fn route(router: &Router, query: &str) -> Routing {
    router.route(query, &Options::new(&Usage::default(), 0))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "vectors")).collect()
}

#[test]
fn what_shares_no_word_is_found_by_meaning_and_does_not_fit() {
    let (world, model) = (world(), Arc::new(Model::default()));
    let (router, semantic) = router(&world, &model, None);
    let routing = route(&router, "my billing is a mess");
    let first = &routing.matches[0];
    assert_eq!((&*first.name, first.kind), ("ledger", MatchKind::Semantic));
    assert_eq!(first.reasons, ["close in meaning: 1.00"]);
    assert!(!routing.fits() && routing.full == 0);

    // Words and meaning together: both are said.
    let routing = route(&router, "the forecast: will I need an umbrella");
    assert_eq!(routing.matches[0].name, "sky");
    insta::assert_snapshot!(routing.matches[0].reasons.join("\n"));
    assert_eq!(semantic.take_troubles(), [] as [&str; 0]);

    // The same without the stage: nothing has a word of it.
    let plain = Router::new(world.snapshot());
    assert!(route(&plain, "my billing is a mess").matches.is_empty());
}

#[test]
fn called_by_name_goes_before_whatever_is_close() {
    let (world, model) = (world(), Arc::new(Model::default()));
    let (router, _) = router(&world, &model, None);
    let routing = route(&router, "/sky tell me of billing invoices");
    let names: Vec<_> = routing.matches.iter().map(|found| &*found.name).collect();
    assert_eq!(names, ["sky", "ledger"]);
    assert_eq!(routing.matches[0].kind, MatchKind::Explicit);
}

#[test]
fn vectors_are_kept_and_only_what_changed_is_embedded_again() {
    let (world, model, place) = (world(), Arc::new(Model::default()), tempfile::tempdir().unwrap());
    let folder = place.path().join("index");
    let ask = |world: &World| {
        let (router, semantic) = router(world, &model, Some(&folder));
        let routing = route(&router, "billing");
        assert_eq!(semantic.take_troubles(), [] as [&str; 0]);
        (routing, model.sent())
    };
    let (first, sent) = ask(&world);
    assert_eq!(sent, ["ledger", "paper", "rollout", "sky", "billing"]);
    let file = files(&folder).pop().unwrap();
    let bytes = fs::read(&file).unwrap();

    // Another process: the file is there, and one vector is asked for.
    assert_eq!(ask(&world), (first.clone(), vec!["billing".to_owned()]));
    // A file that was touched says the same.
    let path = ".agents/skills/sky/SKILL.md";
    world.file(path, skill_md("sky", "Tells the forecast.") + "\nMore.\n");
    assert_eq!(ask(&world).1, ["billing"]);
    world.file(path, skill_md("sky", "Tells when it rains."));
    assert_eq!(ask(&world).1, ["sky", "billing"]);
    assert_eq!(ask(&world).1, ["billing"]);

    // Torn, changed or something else altogether: made again.
    for damage in [bytes[..bytes.len() / 2].to_vec(), Vec::new(), b"foreign".to_vec(), vec![0; 4096]] {
        fs::write(&file, damage).unwrap();
        assert_eq!(ask(&world).1, ["ledger", "paper", "rollout", "sky", "billing"]);
        assert_eq!(ask(&world).1, ["billing"]);
    }
    // Another model has a file of its own.
    *model.name.lock().unwrap() = "another".to_owned();
    assert_eq!(ask(&world).1.len(), 5);
    assert_eq!(files(&folder).len(), 2);
    *model.name.lock().unwrap() = String::new();
    assert_eq!(ask(&world).1, ["billing"]);
}

#[test]
fn what_cannot_be_written_is_made_again_and_nobody_hears_of_it() {
    let (world, model, place) = (world(), Arc::new(Model::default()), tempfile::tempdir().unwrap());
    let folder = place.path().join("index");
    fs::write(&folder, "a file").unwrap();
    for _ in 0..2 {
        let (router, semantic) = router(&world, &model, Some(&folder));
        assert_eq!(route(&router, "billing").matches[0].name, "ledger");
        assert_eq!(model.sent().len(), 5);
        assert_eq!(semantic.take_troubles(), [] as [&str; 0]);
    }
}

#[test]
fn where_it_fails_words_decide_alone_and_one_line_says_so() {
    let (world, model) = (world(), Arc::new(Model::default()));
    let plain = route(&Router::new(world.snapshot()), "merges documents");
    let (router, semantic) = router(&world, &model, None);
    model.fail(Some(EmbedError::Failed("models.example did not answer in time".to_owned())));
    for _ in 0..3 {
        assert_eq!(route(&router, "merges documents"), plain);
    }
    // It is left alone for a while: messages do not wait for what is not there.
    assert_eq!(model.sent().len(), 2);
    assert_eq!(
        semantic.take_troubles(),
        ["skills are chosen by words alone: models.example did not answer in time"]
    );
    assert_eq!(semantic.take_troubles(), [] as [&str; 0]);
}

#[test]
fn vectors_that_do_not_fit_are_refused() {
    let world = world();
    let plain = route(&Router::new(world.snapshot()), "merges documents");
    let mut told = Vec::new();
    let (model, place) = (Arc::new(Model::default()), tempfile::tempdir().unwrap());
    let (ready, semantic) = router(&world, &model, Some(place.path()));
    assert!(ready.prepare());
    *model.longer.lock().unwrap() = 1;
    assert_eq!(route(&ready, "merges documents"), plain);
    told.extend(semantic.take_troubles());
    for error in [
        EmbedError::NotANumber,
        EmbedError::Count { wanted: 2, given: 1 },
        EmbedError::Length(0),
        EmbedError::Dimensions { wanted: 5, given: 6 },
    ] {
        let model = Arc::new(Model::default());
        model.fail(Some(error));
        let (router, semantic) = router(&world, &model, None);
        assert!(!router.prepare());
        assert_eq!(route(&router, "merges documents"), plain);
        told.extend(semantic.take_troubles());
    }
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn half_of_the_vectors_are_kept_and_not_used() {
    let (world, place) = (world(), tempfile::tempdir().unwrap());
    /// Gives up after the first two.
    #[derive(Debug)]
    struct Tires(Model);
    impl Embedder for Tires {
        fn identity(&self) -> Result<String, EmbedError> {
            self.0.identity()
        }
        fn batch(&self) -> usize {
            2
        }
        fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
            let vectors = self.0.embed(texts, purpose);
            self.0.fail(Some(EmbedError::Failed("enough".to_owned())));
            vectors
        }
    }
    let tires = Arc::new(Semantic::new(Arc::new(Tires(Model::default()))));
    let folder = Some(place.path().to_path_buf());
    let router_of =
        |semantic| Router::new(world.snapshot()).keeping(folder.clone()).with_semantic(Some(semantic));
    assert!(route(&router_of(Arc::clone(&tires)), "billing").matches.is_empty());
    assert_eq!(tires.take_troubles(), ["skills are chosen by words alone: enough"]);
    // The next goes on where it ended.
    let model = Arc::new(Model::default());
    let (router, _) = router(&world, &model, Some(place.path()));
    assert_eq!(route(&router, "billing").matches[0].name, "ledger");
    assert_eq!(model.sent(), ["rollout", "sky", "billing"]);
}
