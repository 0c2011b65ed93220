//! The router of one snapshot.

mod fusion;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use prowess_format::Diagnostic;
use prowess_format::hidden::escape_and_truncate;
use unicode_normalization::UnicodeNormalization;

use super::complete::{Completion, CompletionIndex};
use super::index::DamagedIndex;
use super::index_cache;
use super::lexical::{LexicalIndex, RankedSkill};
use super::lint::{RoutingAdvice, lint};
use super::list_request::asks_for_list;
use super::mention::{dollar, skill_phrase, slash};
use super::rank::{
    MatchKind, RouteOptions, Routing, SkillMatch, Tier, explicit_match, lexical_reason, sort_matches,
};
use super::semantic;
use super::skill_texts::{collection, collection_id, skill_texts};
use super::text::fold_trimmed;
use super::triggers::TriggerIndex;
use fusion::SemanticState;
use prowess::FileDiagnostic;
use prowess::known_files::KnownFiles;
use prowess::policy::MentionSyntax;
use prowess::{Skill, Snapshot};
use prowess_fs::parallel_map;

/// Finds the skills of one snapshot that match a message. Each index is built on first use and kept.
///
/// ```
/// use std::sync::Arc;
/// use prowess_routing::{MatchKind, RouteOptions, Router};
/// use prowess::usage::SkillUsage;
/// use prowess::{Policy, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::open(Policy::default())?;
/// let router = Router::new(registry.snapshot());
/// let routing = router.route("/hello-world and be kind", &RouteOptions::new(&SkillUsage::default(), 0));
/// assert_eq!(routing.tier.number(), 3);
/// assert_eq!(routing.full_matches()[0].name, "hello-world");
/// assert_eq!(routing.matches[0].kind, MatchKind::Explicit);
/// assert_eq!(routing.matches[0].reasons[0], "mentioned by name");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Router {
    snapshot: Arc<Snapshot>,
    /// The indexes of the skills that a model may choose by itself.
    selectable: Vec<usize>,
    /// Those of them that are only offered for some files.
    with_paths: Vec<usize>,
    triggers: OnceLock<(TriggerIndex, Vec<FileDiagnostic>)>,
    lexical: RwLock<Option<Arc<LexicalIndex>>>,
    /// The directory of the index cache.
    cache_dir: Option<PathBuf>,
    /// Folded names, mapped to the names in the snapshot.
    folded_names: OnceLock<HashMap<String, String>>,
    /// The names that users can type.
    completions: OnceLock<CompletionIndex>,
    /// The semantic stage, if configured.
    semantic: Option<SemanticState>,
}

impl Router {
    /// Creates a router of a snapshot. Nothing is built or read yet.
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        Self::with_filter(snapshot, |_| true)
    }

    /// Creates a router that chooses by itself only among the enabled skills accepted by `is_selectable`. Users
    /// can still mention the others by name.
    pub fn with_filter(snapshot: Arc<Snapshot>, is_selectable: impl Fn(&Skill) -> bool) -> Self {
        let may_choose = |skill: &Skill| {
            skill.is_enabled()
                && skill.manifest().is_some_and(|manifest| !manifest.disable_model_invocation())
                && is_selectable(skill)
        };
        let selectable: Vec<usize> = (0..)
            .zip(snapshot.all())
            .filter(|(_, skill)| may_choose(skill))
            .map(|(index, _)| index)
            .collect();
        let has_paths = |index: &usize| {
            let manifest = snapshot.all().get(*index).and_then(|skill| skill.manifest());
            manifest.is_some_and(|manifest| !manifest.paths().is_empty())
        };
        let with_paths = selectable.iter().copied().filter(has_paths).collect();
        Self {
            snapshot,
            selectable,
            with_paths,
            triggers: OnceLock::new(),
            lexical: RwLock::default(),
            cache_dir: None,
            folded_names: OnceLock::new(),
            completions: OnceLock::new(),
            semantic: None,
        }
    }

    /// Sets a directory in which the index of large collections is cached for other processes. It needs the
    /// same protection as the user's state. If the cache cannot be used, the index is rebuilt.
    #[must_use]
    pub fn with_cache_dir(self, cache_dir: Option<PathBuf>) -> Self {
        Self { cache_dir, ..self }
    }

    /// Returns the snapshot it routes to.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Returns the problems with triggers.
    pub fn diagnostics(&self) -> &[FileDiagnostic] {
        &self.trigger_index().1
    }

    /// Returns the skills that match a message. Skills with `paths` match only if the message names one of their files, or
    /// the skill itself.
    pub fn route(&self, query: &str, options: &RouteOptions<'_>) -> Routing {
        match self.with_paths.is_empty() {
            true => self.route_without(query, &HashSet::new(), options),
            false => self.route_for_files(query, &KnownFiles::in_message(query, Path::new("")), options),
        }
    }

    /// Like [`Router::route`], with all files that the conversation is about.
    pub fn route_for_files(&self, query: &str, files: &KnownFiles, options: &RouteOptions<'_>) -> Routing {
        let mut routing = self.route_without(query, &self.withheld(files), options);
        for matched in &mut routing.matches {
            let manifest = self.snapshot.get(&matched.name).and_then(|skill| skill.manifest());
            if let Some(file) = manifest.and_then(|manifest| files.find(manifest.paths())) {
                matched.reasons.push(format!("file: {}", escape_and_truncate(file)));
            }
        }
        routing
    }

    /// Returns the skills that would match a message if it were about other files.
    pub fn withheld_matches(
        &self,
        query: &str,
        files: &KnownFiles,
        options: &RouteOptions<'_>,
    ) -> Vec<&Skill> {
        let withheld = self.withheld(files);
        if withheld.is_empty() {
            return Vec::new();
        }
        let keys: HashSet<&str> = withheld
            .iter()
            .filter_map(|index| self.snapshot.all().get(*index))
            .map(|skill| skill.key().as_str())
            .collect();
        let routing = self.route_without(query, &HashSet::new(), options);
        let matches = routing.matches.iter().filter(|matched| {
            matched.kind != MatchKind::Explicit && matched.is_confident() && keys.contains(&*matched.name)
        });
        matches.filter_map(|matched| self.snapshot.get(&matched.name)).collect()
    }

    /// Returns the indexes of the skills that are only offered for other files.
    fn withheld(&self, files: &KnownFiles) -> HashSet<usize> {
        let is_allowed =
            |index: &usize| self.snapshot.all().get(*index).is_some_and(|skill| files.allow(skill));
        self.with_paths.iter().copied().filter(|index| !is_allowed(index)).collect()
    }

    fn route_without(&self, query: &str, withheld: &HashSet<usize>, options: &RouteOptions<'_>) -> Routing {
        let mentioned = self.mentioned(query, options);
        let (index, _) = self.trigger_index();
        let wants_list = asks_for_list(query);
        let mut hits = if wants_list { Vec::new() } else { index.matches(query) };
        hits.retain(|hit| !withheld.contains(&hit.skill));
        let mut matches: Vec<SkillMatch> = hits
            .chunk_by(|a, b| a.skill == b.skill)
            .filter_map(|hits| {
                let name = self.snapshot.all().get(hits.first()?.skill)?.key();
                explicit_match(name, mentioned.contains(&name.as_str()), hits, options)
            })
            .collect();
        let matched_names: HashSet<String> =
            matches.iter().map(|skill_match| skill_match.name.clone()).collect();
        matches.extend(
            mentioned
                .iter()
                .filter(|name| !matched_names.contains(**name))
                .filter_map(|name| explicit_match(name, true, &[], options)),
        );
        sort_matches(&mut matches, options);
        let tier = if !matches.is_empty() {
            Tier::Full
        } else if self.selectable.is_empty() {
            Tier::Nothing
        } else if wants_list || index.is_empty() {
            Tier::Registry
        } else {
            Tier::Breadcrumb
        };
        let full = matches.len().min(options.max_skills);
        matches.truncate(options.k.max(full));
        if !wants_list && matches.len() < options.k {
            self.add_lexical(query, withheld, options, &mut matches);
        }
        Routing { tier, matches, full_count: full }
    }

    /// Completes a name as in [`complete`](super::complete()), or suggests names for a typo if nothing matches.
    /// The names are folded and sorted on first use.
    pub fn complete(&self, typed: &str) -> Vec<Completion<'_>> {
        self.complete_among(typed, |_| true)
    }

    /// Like [`Router::complete`], limited to skills accepted by `is_wanted`.
    pub fn complete_among(&self, typed: &str, is_wanted: impl Fn(&Skill) -> bool) -> Vec<Completion<'_>> {
        let skill = |index: usize| self.snapshot.all().get(index);
        let completions = self.completions().complete(
            typed,
            |index| skill(index).is_some_and(&is_wanted),
            |index| skill(index).map(|skill| self.searchable_text(skill)).unwrap_or_default(),
        );
        let completion = |(name, index)| {
            let manifest = skill(index)?.manifest()?;
            let (description, argument_hint) = (manifest.brief_description(), manifest.argument_hint());
            Some(Completion { name, description, argument_hint })
        };
        completions.into_iter().filter_map(completion).collect()
    }

    fn completions(&self) -> &CompletionIndex {
        self.completions.get_or_init(|| {
            let name = |(index, skill): (usize, &Skill)| {
                let is_invocable = skill.is_enabled() && skill.manifest()?.user_invocable();
                is_invocable.then(|| (skill.key().into(), index))
            };
            CompletionIndex::new((0..).zip(self.snapshot.all()).filter_map(name))
        })
    }

    /// Returns the searched text of a skill besides its key: the description, and the name if it differs from
    /// the key.
    fn searchable_text(&self, skill: &Skill) -> String {
        let (key, name, description) = (skill.key(), skill.name(), skill.description());
        if *key == *name { description.to_owned() } else { format!("{name}\n{description}") }
    }

    /// Checks how well the selectable skills can be distinguished, and whether their triggers are specific.
    /// Returns their names and the advice.
    pub fn lint(&self) -> (Vec<String>, Vec<RoutingAdvice>) {
        let skills: Vec<&Skill> = self.skills().map(|(_, skill)| skill).collect();
        let texts = parallel_map(&skills, 32, |skill| skill_texts(skill));
        let mut advice: BTreeMap<usize, RoutingAdvice> =
            lint(&texts).into_iter().map(|advice| (advice.skill, advice)).collect();
        for (index, trigger) in self.trigger_index().0.general_triggers() {
            // Positions among the selectable skills are sorted by their index in the snapshot.
            let Ok(skill) = self.selectable.binary_search(&index) else { continue };
            let advice = advice.entry(skill).or_insert_with(|| RoutingAdvice::distinct(skill));
            advice.general_triggers.push(trigger.to_owned());
        }
        (skills.iter().map(|skill| skill.key().into()).collect(), advice.into_values().collect())
    }

    /// Adds skills that share words with the message, up to `k`, and adds this reason to matches that are
    /// already known.
    fn add_lexical(
        &self,
        query: &str,
        withheld: &HashSet<usize>,
        options: &RouteOptions<'_>,
        matches: &mut Vec<SkillMatch>,
    ) {
        let mut others = Vec::new();
        for ranked in self.rank(query, options.k.saturating_add(matches.len()).saturating_add(withheld.len()))
        {
            let index = self.selectable.get(ranked.skill).filter(|index| !withheld.contains(index));
            let Some(skill) = index.and_then(|index| self.snapshot.all().get(*index)) else { continue };
            let name = skill.key();
            match matches.iter_mut().find(|existing| *name == *existing.name) {
                Some(existing) => {
                    existing.reasons.extend(ranked.lexical.map(|words| lexical_reason(words.score)));
                    existing.reasons.extend(ranked.similarity.map(semantic::similarity_reason));
                }
                None => others.push(semantic::fused_match(name, ranked, options)),
            }
        }
        sort_matches(&mut others, options);
        matches.append(&mut others);
        matches.truncate(options.k);
    }

    /// Returns the names mentioned in the message, without duplicates.
    fn mentioned<'r>(&'r self, query: &str, options: &RouteOptions<'_>) -> Vec<&'r str> {
        let exact = |name: &str| {
            // Names are stored in NFKC; input may use another form.
            let name = if name.is_ascii() { name.into() } else { name.nfkc().collect::<Cow<'_, str>>() };
            let skill = self.snapshot.get(&name).filter(|skill| skill.is_enabled())?;
            Some(skill.key().as_str())
        };
        let mut names = Vec::new();
        if options.mention.slash == MentionSyntax::Enabled {
            let mention = slash(query, |name| exact(name).is_some());
            names.extend(mention.and_then(|mention| exact(mention.name)));
        }
        if options.mention.dollar == MentionSyntax::Enabled {
            names.extend(dollar(query, exact));
        }
        names.extend(skill_phrase(query, |name| {
            exact(name).or_else(|| self.folded_names().get(&fold_trimmed(name)).map(String::as_str))
        }));
        let mut unique = HashSet::new();
        names.retain(|name| unique.insert(*name));
        names
    }

    fn trigger_index(&self) -> &(TriggerIndex, Vec<FileDiagnostic>) {
        self.triggers.get_or_init(|| {
            let skills = self.skills().filter_map(|(index, skill)| Some((index, skill.manifest()?)));
            let (index, problems) = TriggerIndex::new(skills);
            let locate = |(index, diagnostic): (usize, Diagnostic)| {
                self.snapshot
                    .all()
                    .get(index)
                    .map(|skill| FileDiagnostic::new(skill.skill_md_path(), diagnostic))
            };
            (index, problems.into_iter().filter_map(locate).collect())
        })
    }

    /// Returns the skills that share words with a message, the best first.
    fn rank_lexical(&self, query: &str, k: usize) -> Vec<RankedSkill> {
        self.lexical_index()
            .try_rank(query, k)
            .unwrap_or_else(|DamagedIndex| self.rebuild_index().rank(query, k))
    }

    fn lexical_index(&self) -> Arc<LexicalIndex> {
        if let Some(index) = &*self.lexical.read().unwrap_or_else(PoisonError::into_inner) {
            return Arc::clone(index);
        }
        let mut cached = self.lexical.write().unwrap_or_else(PoisonError::into_inner);
        let skills: Vec<&Skill> = self.skills().map(|(_, skill)| skill).collect();
        let build = || {
            let texts = |index: usize| skills.get(index).map(|skill| skill_texts(skill)).unwrap_or_default();
            let collection = collection(&self.snapshot, &skills, &texts);
            Arc::new(LexicalIndex::from_index(index_cache::open_or_build(
                self.cache_dir.as_deref(),
                &collection,
            )))
        };
        Arc::clone(cached.get_or_insert_with(build))
    }

    /// Rebuilds the index after the cached one turned out to be damaged.
    fn rebuild_index(&self) -> Arc<LexicalIndex> {
        if let Some(dir) = &self.cache_dir {
            index_cache::remove_cached(dir, collection_id(&self.snapshot));
        }
        *self.lexical.write().unwrap_or_else(PoisonError::into_inner) = None;
        let skills: Vec<&Skill> = self.skills().map(|(_, skill)| skill).collect();
        let index = Arc::new(LexicalIndex::new(&skills, |skill| skill_texts(skill)));
        *self.lexical.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&index));
        index
    }

    fn folded_names(&self) -> &HashMap<String, String> {
        self.folded_names.get_or_init(|| {
            let names = self.snapshot.enabled().map(|skill| String::from(skill.key()));
            names.map(|name| (fold_trimmed(&name), name)).collect()
        })
    }

    fn skills(&self) -> impl Iterator<Item = (usize, &Skill)> {
        self.selectable.iter().filter_map(|index| Some((*index, self.snapshot.all().get(*index)?)))
    }
}
