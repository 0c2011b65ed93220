//! The router of one snapshot.

mod meaning;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use prowess_format::Diagnostic;
use unicode_normalization::UnicodeNormalization;

use super::ask::asks_for_list;
use super::complete::{Completion, Completions};
use super::index::Damaged;
use super::kept;
use super::lexical::{Lexical, Ranked};
use super::lint::{Advice, lint};
use super::mention::{dollar, slash, spoken};
use super::rank::{Match, Options, Routing, Tier, decided, lexical_reason, sort};
use super::semantic;
use super::text::fold_trimmed;
use super::texts::{collection, collection_id, texts};
use super::triggers::TriggerIndex;
use meaning::Meaning;
use prowess::Located;
use prowess::policy::Recognised;
use prowess::{Skill, Snapshot};
use prowess_fs::parallel;

/// Finds the skills of one snapshot that answer a message. Each index is built when it is first needed, and then kept.
///
/// ```
/// use std::sync::Arc;
/// use prowess_routing::{MatchKind, Options, Router};
/// use prowess::usage::Usage;
/// use prowess::{Policy, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let router = Router::new(registry.snapshot());
/// let routing = router.route("/hello-world and be kind", &Options::new(&Usage::default(), 0));
/// assert_eq!(routing.tier.number(), 3);
/// assert_eq!(routing.pushed()[0].name, "hello-world");
/// assert_eq!(routing.matches[0].kind, MatchKind::Explicit);
/// assert_eq!(routing.matches[0].reasons[0], "mentioned by name");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Router {
    snapshot: Arc<Snapshot>,
    /// The places of the skills that a model may choose by itself.
    offered: Vec<usize>,
    triggers: OnceLock<(TriggerIndex, Vec<Located>)>,
    lexical: RwLock<Option<Arc<Lexical>>>,
    /// Where indexes are kept.
    folder: Option<PathBuf>,
    /// Folded names to the names that the snapshot knows.
    folded: OnceLock<HashMap<String, String>>,
    /// The names that people call.
    completions: OnceLock<Completions>,
    /// What says how close a message is in meaning, if anything does.
    meaning: Option<Meaning>,
}

impl Router {
    /// A router of a snapshot. Nothing is built or read yet.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self::offering(snapshot, |_| true)
    }

    /// A router that chooses by itself only among the enabled skills that `offers` says yes to. People can call the
    /// others by name.
    pub fn offering(snapshot: Arc<Snapshot>, offers: impl Fn(&Skill) -> bool) -> Self {
        let may = |skill: &Skill| {
            skill.is_enabled()
                && skill.manifest().is_some_and(|manifest| !manifest.disable_model_invocation())
                && offers(skill)
        };
        let offered = (0..).zip(snapshot.all()).filter(|(_, skill)| may(skill)).map(|(at, _)| at).collect();
        Self {
            snapshot,
            offered,
            triggers: OnceLock::new(),
            lexical: RwLock::default(),
            folder: None,
            folded: OnceLock::new(),
            completions: OnceLock::new(),
            meaning: None,
        }
    }

    /// With a folder to keep the index of large collections in, so that the next process need not build it again. It is
    /// read and written by whoever may read and write what the user's state is; what cannot be kept is built anew.
    #[must_use]
    pub fn keeping(self, folder: Option<PathBuf>) -> Self {
        Self { folder, ..self }
    }

    /// The snapshot it routes to.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// What is wrong with triggers.
    pub fn diagnostics(&self) -> &[Located] {
        &self.indexed().1
    }

    /// The skills that answer a message.
    pub fn route(&self, query: &str, options: &Options<'_>) -> Routing {
        let mentioned = self.mentioned(query, options);
        let (index, _) = self.indexed();
        let asked = asks_for_list(query);
        let hits = if asked { Vec::new() } else { index.hits(query) };
        let mut matches: Vec<Match> = hits
            .chunk_by(|a, b| a.skill == b.skill)
            .filter_map(|hits| {
                let name = self.key(self.snapshot.all().get(hits.first()?.skill)?);
                decided(&name, mentioned.contains(&name.as_ref()), hits, options)
            })
            .collect();
        let known: HashSet<String> = matches.iter().map(|found| found.name.clone()).collect();
        matches.extend(
            mentioned
                .iter()
                .filter(|name| !known.contains(**name))
                .filter_map(|name| decided(name, true, &[], options)),
        );
        sort(&mut matches, options);
        let tier = if !matches.is_empty() {
            Tier::Full
        } else if self.offered.is_empty() {
            Tier::Nothing
        } else if asked || index.is_empty() {
            Tier::Registry
        } else {
            Tier::Breadcrumb
        };
        let full = matches.len().min(options.max_skills);
        matches.truncate(options.k.max(full));
        if !asked && matches.len() < options.k {
            self.fill(query, options, &mut matches);
        }
        Routing { tier, matches, full }
    }

    /// What a person who typed this far could mean, as [`complete`](super::complete()) has it; where nothing fits, names that
    /// are mistyped. The names are folded and sorted when this is first asked, and then kept.
    pub fn complete(&self, typed: &str) -> Vec<Completion<'_>> {
        self.complete_among(typed, |_| true)
    }

    /// The same among the skills that are wanted.
    pub fn complete_among(&self, typed: &str, is_wanted: impl Fn(&Skill) -> bool) -> Vec<Completion<'_>> {
        let skill = |place: usize| self.snapshot.all().get(place);
        let found = self.completions().complete(
            typed,
            |place| skill(place).is_some_and(&is_wanted),
            |place| skill(place).map(|skill| self.described(skill)).unwrap_or_default(),
        );
        let told = |(name, place)| {
            let manifest = skill(place)?.manifest()?;
            let (description, argument_hint) = (manifest.brief_description(), manifest.argument_hint());
            Some(Completion { name, description, argument_hint })
        };
        found.into_iter().filter_map(told).collect()
    }

    fn completions(&self) -> &Completions {
        self.completions.get_or_init(|| {
            let called = |(place, skill): (usize, &Skill)| {
                let is_for_people = skill.is_enabled() && skill.manifest()?.user_invocable();
                is_for_people.then(|| (self.key(skill).into_owned(), place))
            };
            Completions::new((0..).zip(self.snapshot.all()).filter_map(called))
        })
    }

    /// What is compared of a skill beside what it is called: also its name, where it is called something else.
    fn described(&self, skill: &Skill) -> String {
        let (called, name, description) = (self.key(skill), skill.name(), skill.description());
        if called == name { description.to_owned() } else { format!("{name}\n{description}") }
    }

    /// How well the skills it chooses among can be told apart, with their names.
    pub fn lint(&self) -> (Vec<String>, Vec<Advice>) {
        let skills: Vec<&Skill> = self.skills().map(|(_, skill)| skill).collect();
        let texts = parallel(&skills, 32, |skill| texts(skill));
        (skills.iter().map(|skill| self.key(skill).into_owned()).collect(), lint(&texts))
    }

    /// Fills up to `k` with skills that share words with the message; of the others that do, too, it is said.
    fn fill(&self, query: &str, options: &Options<'_>, matches: &mut Vec<Match>) {
        let mut others = Vec::new();
        for found in self.found(query, options.k.saturating_add(matches.len())) {
            let Some(skill) = self.offered.get(found.skill).and_then(|at| self.snapshot.all().get(*at))
            else {
                continue;
            };
            let name = self.key(skill);
            match matches.iter_mut().find(|known| known.name == name) {
                Some(known) => {
                    known.reasons.extend(found.words.map(|words| lexical_reason(words.score)));
                    known.reasons.extend(found.close.map(semantic::close_reason));
                }
                None => others.push(semantic::matched(&name, found, options)),
            }
        }
        sort(&mut others, options);
        matches.append(&mut others);
        matches.truncate(options.k);
    }

    /// The names that the message calls, each once.
    fn mentioned<'r>(&'r self, query: &str, options: &Options<'_>) -> Vec<&'r str> {
        let exact = |name: &str| {
            // Names are kept in NFKC; keyboards write what they like.
            let name = if name.is_ascii() { name.into() } else { name.nfkc().collect::<Cow<'_, str>>() };
            let key = self.snapshot.known_name(&name)?;
            self.snapshot.get(key).filter(|skill| skill.is_enabled()).map(|_| key)
        };
        let mut names = Vec::new();
        if options.mention.slash == Recognised::Yes {
            let called = slash(query, |name| exact(name).is_some());
            names.extend(called.and_then(|called| exact(called.name)));
        }
        if options.mention.dollar == Recognised::Yes {
            names.extend(dollar(query, exact));
        }
        names.extend(spoken(query, |name| {
            exact(name).or_else(|| self.folded().get(&fold_trimmed(name)).map(String::as_str))
        }));
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }

    /// The name under which the snapshot has a skill: its name, or its folder's where that is what counts.
    fn key<'s>(&self, skill: &'s Skill) -> Cow<'s, str> {
        let name = skill.name();
        match self.snapshot.get(&name) {
            Some(known) if std::ptr::eq(known, skill) => name,
            _ => skill.id(),
        }
    }

    fn indexed(&self) -> &(TriggerIndex, Vec<Located>) {
        self.triggers.get_or_init(|| {
            let skills = self.skills().filter_map(|(at, skill)| Some((at, skill.manifest()?)));
            let (index, problems) = TriggerIndex::new(skills);
            let locate = |(at, diagnostic): (usize, Diagnostic)| {
                self.snapshot.all().get(at).map(|skill| Located::new(skill.location(), diagnostic))
            };
            (index, problems.into_iter().filter_map(locate).collect())
        })
    }

    /// The skills that share words with a message, the best first.
    fn ranked(&self, query: &str, k: usize) -> Vec<Ranked> {
        self.words().try_rank(query, k).unwrap_or_else(|Damaged| self.indexed_anew().rank(query, k))
    }

    fn words(&self) -> Arc<Lexical> {
        if let Some(known) = &*self.lexical.read().unwrap_or_else(PoisonError::into_inner) {
            return Arc::clone(known);
        }
        let mut kept = self.lexical.write().unwrap_or_else(PoisonError::into_inner);
        let skills: Vec<&Skill> = self.skills().map(|(_, skill)| skill).collect();
        let make = || {
            let texts = |place: usize| skills.get(place).map(|skill| texts(skill)).unwrap_or_default();
            let collection = collection(&self.snapshot, &skills, &texts);
            Arc::new(Lexical::over(kept::index(self.folder.as_deref(), &collection)))
        };
        Arc::clone(kept.get_or_insert_with(make))
    }

    /// What was kept turned out to be damaged.
    fn indexed_anew(&self) -> Arc<Lexical> {
        if let Some(folder) = &self.folder {
            kept::forget(folder, collection_id(&self.snapshot));
        }
        *self.lexical.write().unwrap_or_else(PoisonError::into_inner) = None;
        let skills: Vec<&Skill> = self.skills().map(|(_, skill)| skill).collect();
        let made = Arc::new(Lexical::new(&skills, |skill| texts(skill)));
        *self.lexical.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&made));
        made
    }

    fn folded(&self) -> &HashMap<String, String> {
        self.folded.get_or_init(|| {
            let names = self.snapshot.enabled().map(|skill| self.key(skill).into_owned());
            names.map(|name| (fold_trimmed(&name), name)).collect()
        })
    }

    fn skills(&self) -> impl Iterator<Item = (usize, &Skill)> {
        self.offered.iter().filter_map(|at| Some((*at, self.snapshot.all().get(*at)?)))
    }
}
