//! Decides how much of each skill is shown within a budget. Invariant: the rendered catalog never exceeds the
//! budget.

use std::cell::RefCell;

use super::entries::CatalogEntry;
use super::render::CatalogRenderer;

/// A function that counts characters or tokens in a text.
pub type Measure<'a> = &'a dyn Fn(&str) -> usize;

const BYTES: Measure<'static> = &str::len;

/// The maximum size of a catalog in characters, tokens, or both.
#[derive(Clone, Copy, Default)]
pub struct CatalogBudget<'a> {
    chars: Option<usize>,
    tokens: Option<(usize, Option<Measure<'a>>)>,
}

impl<'a> CatalogBudget<'a> {
    /// Limits the number of characters; `None` for no limit.
    pub fn chars(limit: Option<u32>) -> Self {
        Self { chars: limit.map(|limit| limit as usize), tokens: None }
    }

    /// Adds a token limit; `count` counts the tokens.
    #[must_use]
    pub fn and_tokens(self, limit: Option<u32>, count: Measure<'a>) -> Self {
        Self { tokens: limit.map(|limit| (limit as usize, Some(count))), ..self }
    }

    /// Counts bytes instead of tokens.
    fn in_bytes(self) -> Self {
        Self { tokens: self.tokens.map(|(limit, _)| (limit, Some(BYTES))), ..self }
    }

    fn is_unbounded(&self) -> bool {
        self.chars.is_none() && self.tokens.is_none()
    }

    /// Returns `true` if a text fits into the budget.
    pub fn fits(&self, text: &str) -> bool {
        self.remaining(text).is_some()
    }

    /// Returns the number of characters and tokens of a text.
    fn cost(&self, text: &str) -> Cost {
        Cost {
            chars: if self.chars.is_some() { text.chars().count() } else { 0 },
            tokens: match self.tokens {
                Some((_, Some(count))) => count(text),
                Some((_, None)) | None => 0,
            },
        }
    }

    fn remaining(&self, text: &str) -> Option<Cost> {
        self.limit().minus(self.cost(text))
    }

    fn limit(&self) -> Cost {
        Cost {
            chars: self.chars.unwrap_or(usize::MAX),
            tokens: self.tokens.map_or(usize::MAX, |(limit, _)| limit),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Cost {
    chars: usize,
    tokens: usize,
}

impl Cost {
    fn minus(self, other: Self) -> Option<Self> {
        Some(Self {
            chars: self.chars.checked_sub(other.chars)?,
            tokens: self.tokens.checked_sub(other.tokens)?,
        })
    }
}

prowess_format::named_enum! {
    /// How much of a skill is shown, from most to least.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum DetailLevel {
        /// Name and whole description.
        Full = "full",
        /// Name and the beginning of the description.
        Short = "shortened",
        /// The name only.
        NameOnly = "name only",
        /// Nothing.
        Omitted = "left out",
    }
}

/// How much is shown of each skill, in catalog order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CatalogPlan {
    pub(super) levels: Vec<DetailLevel>,
    names: Vec<String>,
}

/// A skill that is not shown in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogCut {
    /// The skill's name.
    pub name: String,
    /// How much of it is shown.
    pub level: DetailLevel,
}

impl CatalogPlan {
    /// Returns the cuts in catalog order.
    pub fn cuts(&self) -> impl Iterator<Item = CatalogCut> {
        let skills = self.names.iter().zip(&self.levels);
        skills
            .filter(|(_, level)| **level != DetailLevel::Full)
            .map(|(name, level)| CatalogCut { name: name.clone(), level: *level })
    }

    /// Returns `true` if all skills are shown in full.
    pub fn is_complete(&self) -> bool {
        self.levels.iter().all(|level| *level == DetailLevel::Full)
    }

    /// Returns the number of skills.
    pub fn total(&self) -> usize {
        self.levels.len()
    }

    /// Returns the number of skills with this level of detail.
    pub fn count(&self, level: DetailLevel) -> usize {
        self.levels.iter().filter(|shown| **shown == level).count()
    }

    /// Returns the names that the model sees.
    pub fn shown_names(&self) -> impl Iterator<Item = &str> {
        let skills = self.names.iter().zip(&self.levels);
        skills.filter(|(_, level)| **level != DetailLevel::Omitted).map(|(name, _)| name.as_str())
    }

    /// Returns the note for the model about the cuts; `None` if there are none. The tool finds skills that are left out.
    pub(super) fn note(&self, search_tool: Option<&str>) -> Option<String> {
        let (short, name_only, omitted) = (
            self.count(DetailLevel::Short),
            self.count(DetailLevel::NameOnly),
            self.count(DetailLevel::Omitted),
        );
        let parts =
            [(short, "with a shortened description"), (name_only, "by name only"), (omitted, "left out")];
        let parts_text: Vec<_> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, description)| format!("{n} {description}"))
            .collect();
        let total = self.total();
        let hint = search_tool.filter(|_| omitted > 0).map_or_else(String::new, search_hint);
        (!parts_text.is_empty())
            .then(|| format!("Cut to fit: of {total} skills, {}.{hint}", parts_text.join(", ")))
    }
}

/// Returns the sentence that follows the note if skills are left out.
fn search_hint(tool: &str) -> String {
    format!(" Find the skills that are left out with {tool}.")
}

/// The longest possible note. Its size is reserved before anything else is planned.
const NOTE_ROOM: &str = "Cut to fit: of 1000000 skills, 1000000 with a shortened description, 1000000 by name only, 1000000 left out.";

/// Plans how much of each skill is shown.
pub(super) fn plan_catalog(
    entries: &[CatalogEntry<'_>],
    renderer: &CatalogRenderer<'_>,
    budget: &CatalogBudget<'_>,
) -> CatalogPlan {
    let names = entries.iter().map(|entry| entry.name.to_string()).collect();
    let mut plan = CatalogPlan { levels: vec![DetailLevel::Full; entries.len()], names };
    let mut planner = Planner { entries, renderer, budget, prices: RefCell::default() };
    if budget.is_unbounded() || planner.all_fit() {
        return plan;
    }
    planner.prices = RefCell::new(vec![[None; 3]; entries.len()]);
    let (head, tail) = planner.order();
    let note = format!("{NOTE_ROOM}{}", renderer.search_tool.map_or_else(String::new, search_hint));
    let frame = budget.remaining(&renderer.render_frame(Some(&note)));
    let Some(room) = frame else {
        plan.levels.fill(DetailLevel::Omitted);
        return plan;
    };
    let all: Vec<usize> = head.iter().chain(&tail).copied().collect();
    match planner.spend(&head, DetailLevel::Full, room) {
        Some(room) if planner.spend(&tail, DetailLevel::NameOnly, room).is_some() => {
            planner.degrade(&tail, room, &mut plan.levels);
        }
        // Prefer names of all skills, including the important ones, over omitting any.
        _ if planner.spend(&all, DetailLevel::NameOnly, room).is_some() => {
            planner.degrade(&all, room, &mut plan.levels)
        }
        // Not even all names fit. A few described skills are more useful than many bare names.
        Some(room) => planner.degrade(&tail, room, &mut plan.levels),
        None => {
            tail.iter().for_each(|index| plan.levels[*index] = DetailLevel::Omitted);
            planner.degrade(&head, room, &mut plan.levels);
        }
    }
    planner.enforce_budget(&mut plan, &head, &tail);
    planner.drop_noop_cuts(&mut plan.levels);
    plan
}

struct Planner<'p, 'a> {
    entries: &'p [CatalogEntry<'a>],
    renderer: &'p CatalogRenderer<'p>,
    budget: &'p CatalogBudget<'p>,
    /// The costs so far, by entry and level; empty while each is needed only once.
    prices: RefCell<Vec<[Option<Cost>; 3]>>,
}

impl Planner<'_, '_> {
    /// Returns `true` if everything fits. Stops early, so that huge collections are never priced completely.
    fn all_fit(&self) -> bool {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        // A token has at least one byte: if the bytes fit, no tokenizer has to be loaded.
        let in_bytes = self.budget.in_bytes();
        let bytes = Planner {
            entries: self.entries,
            renderer: self.renderer,
            budget: &in_bytes,
            prices: RefCell::default(),
        };
        let frame = in_bytes.remaining(&self.renderer.render_frame(None));
        if frame.is_some_and(|room| bytes.spend(&all, DetailLevel::Full, room).is_some()) {
            return true;
        }
        let frame = self.budget.remaining(&self.renderer.render_frame(None));
        frame.is_some_and(|room| self.spend(&all, DetailLevel::Full, room).is_some())
    }

    /// Returns the entries that are cut last, the most important first, and the others in catalog order.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut head, tail): (Vec<usize>, Vec<usize>) =
            (0..self.entries.len()).partition(|index| self.entries[*index].rank > 0);
        head.sort_by_key(|index| std::cmp::Reverse(self.entries[*index].rank));
        (head, tail)
    }

    fn price(&self, index: usize, level: DetailLevel) -> Cost {
        let cached = self.prices.borrow().get(index).and_then(|levels| *levels.get(level as usize)?);
        cached.unwrap_or_else(|| {
            let price = self.budget.cost(&self.renderer.render_entry(&self.entries[index], level));
            let mut prices = self.prices.borrow_mut();
            if let Some(slot) = prices.get_mut(index).and_then(|levels| levels.get_mut(level as usize)) {
                *slot = Some(price);
            }
            price
        })
    }

    /// Returns the remaining budget after showing these entries with one level; `None` if they do not fit.
    fn spend(&self, indices: &[usize], level: DetailLevel, room: Cost) -> Option<Cost> {
        indices.iter().try_fold(room, |room, index| room.minus(self.price(*index, level)))
    }

    /// Shortens descriptions, then reduces entries to names, then omits entries, each from the end.
    fn degrade(&self, indices: &[usize], room: Cost, levels: &mut [DetailLevel]) {
        for (better, worse) in
            [(DetailLevel::Full, DetailLevel::Short), (DetailLevel::Short, DetailLevel::NameOnly)]
        {
            let Some(mut remaining) = self.spend(indices, worse, room) else { continue };
            // Everything fits at the worse level; raise entries from the front while the budget lasts.
            for index in indices {
                let (low, high) = (self.price(*index, worse), self.price(*index, better));
                let raise = Cost {
                    chars: high.chars.saturating_sub(low.chars),
                    tokens: high.tokens.saturating_sub(low.tokens),
                };
                match remaining.minus(raise) {
                    Some(after) => (remaining, levels[*index]) = (after, better),
                    None => {
                        levels[*index] = worse;
                        remaining = Cost { chars: 0, tokens: 0 };
                    }
                }
            }
            return;
        }
        let mut remaining = Some(room);
        for index in indices {
            remaining = remaining.and_then(|room| room.minus(self.price(*index, DetailLevel::NameOnly)));
            levels[*index] = if remaining.is_some() { DetailLevel::NameOnly } else { DetailLevel::Omitted };
        }
    }

    /// Resets cuts without effect: the description was short already, or the skill has only a name.
    fn drop_noop_cuts(&self, levels: &mut [DetailLevel]) {
        for (entry, level) in self.entries.iter().zip(levels) {
            let is_cut = *level != DetailLevel::Full && *level != DetailLevel::Omitted;
            if is_cut
                && self.renderer.render_entry(entry, *level)
                    == self.renderer.render_entry(entry, DetailLevel::Full)
            {
                *level = DetailLevel::Full;
            }
        }
    }

    /// Omits entries from the end until the whole text fits: it may have more tokens than its parts.
    fn enforce_budget(&self, plan: &mut CatalogPlan, head: &[usize], tail: &[usize]) {
        for index in tail.iter().rev().chain(head.iter().rev()) {
            if self.budget.fits(&self.renderer.render(self.entries, plan)) {
                return;
            }
            plan.levels[*index] = DetailLevel::Omitted;
        }
    }
}
