//! What is told of each skill under a budget. The property: what is rendered never costs more than the budget.

use std::cell::RefCell;

use super::entries::Entry;
use super::form::Form;

/// Counts something in a text: characters, or tokens.
pub type Measure<'a> = &'a dyn Fn(&str) -> usize;

const BYTES: Measure<'static> = &str::len;

/// What a catalog may cost, in characters, in tokens, or both.
#[derive(Clone, Copy, Default)]
pub struct Budget<'a> {
    chars: Option<usize>,
    tokens: Option<(usize, Option<Measure<'a>>)>,
}

impl<'a> Budget<'a> {
    /// At most so many characters; `None` for no bound.
    pub fn chars(limit: Option<u32>) -> Self {
        Self { chars: limit.map(|limit| limit as usize), tokens: None }
    }

    /// And at most so many tokens, counted by `count`.
    #[must_use]
    pub fn and_tokens(self, limit: Option<u32>, count: Measure<'a>) -> Self {
        Self { tokens: limit.map(|limit| (limit as usize, Some(count))), ..self }
    }

    /// The same with bytes for tokens.
    fn in_bytes(self) -> Self {
        Self { tokens: self.tokens.map(|(limit, _)| (limit, Some(BYTES))), ..self }
    }

    fn is_unbounded(&self) -> bool {
        self.chars.is_none() && self.tokens.is_none()
    }

    /// Whether a text keeps within it.
    pub fn holds(&self, text: &str) -> bool {
        self.left(text).is_some()
    }

    /// The cost of a text in each of the two.
    fn cost(&self, text: &str) -> Cost {
        Cost {
            chars: if self.chars.is_some() { text.chars().count() } else { 0 },
            tokens: match self.tokens {
                Some((_, Some(count))) => count(text),
                Some((_, None)) | None => 0,
            },
        }
    }

    fn left(&self, text: &str) -> Option<Cost> {
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

/// How much is told of a skill. Later is less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Name and whole description.
    Full,
    /// Name and the beginning of the description.
    Short,
    /// The name alone.
    Name,
    /// Nothing.
    Omitted,
}

impl Level {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Short => "shortened",
            Self::Name => "name only",
            Self::Omitted => "left out",
        }
    }
}

/// What was decided, skill by skill in the order of the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    pub(super) levels: Vec<Level>,
    names: Vec<String>,
}

/// A skill of which less than everything is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The skill.
    pub name: String,
    /// What is left of it.
    pub level: Level,
}

impl Plan {
    /// What was cut, in the order of the catalog.
    pub fn cuts(&self) -> impl Iterator<Item = Cut> {
        let told = self.names.iter().zip(&self.levels);
        told.filter(|(_, level)| **level != Level::Full)
            .map(|(name, level)| Cut { name: name.clone(), level: *level })
    }

    /// Whether everything is told of every skill.
    pub fn is_whole(&self) -> bool {
        self.levels.iter().all(|level| *level == Level::Full)
    }

    /// How many skills there are.
    pub fn total(&self) -> usize {
        self.levels.len()
    }

    /// How many are at a level.
    pub fn count(&self, level: Level) -> usize {
        self.levels.iter().filter(|known| **known == level).count()
    }

    /// The names that the model sees.
    pub fn told(&self) -> impl Iterator<Item = &str> {
        let told = self.names.iter().zip(&self.levels);
        told.filter(|(_, level)| **level != Level::Omitted).map(|(name, _)| name.as_str())
    }

    /// What the model is told of the cuts; `None` where there are none.
    pub(super) fn note(&self) -> Option<String> {
        let (short, name, omitted) =
            (self.count(Level::Short), self.count(Level::Name), self.count(Level::Omitted));
        let parts = [(short, "with a shortened description"), (name, "by name only"), (omitted, "left out")];
        let told: Vec<_> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, how)| format!("{n} {how}")).collect();
        let total = self.total();
        (!told.is_empty()).then(|| format!("Cut to fit: of {total} skills, {}.", told.join(", ")))
    }
}

/// The longest note there can be: its place is kept free before anything else is decided.
const NOTE_ROOM: &str = "Cut to fit: of 1000000 skills, 1000000 with a shortened description, 1000000 by name only, 1000000 left out.";

/// Decides how much is told of each skill.
pub(super) fn plan(entries: &[Entry<'_>], form: &Form<'_>, budget: &Budget<'_>) -> Plan {
    let names = entries.iter().map(|entry| entry.name.to_string()).collect();
    let mut plan = Plan { levels: vec![Level::Full; entries.len()], names };
    let mut planner = Planner { entries, form, budget, prices: RefCell::default() };
    if budget.is_unbounded() || planner.all_fit() {
        return plan;
    }
    planner.prices = RefCell::new(vec![[None; 3]; entries.len()]);
    let (head, tail) = planner.order();
    let frame = budget.left(&form.frame(Some(NOTE_ROOM)));
    let Some(room) = frame else {
        plan.levels.fill(Level::Omitted);
        return plan;
    };
    let all: Vec<usize> = head.iter().chain(&tail).copied().collect();
    match planner.spend(&head, Level::Full, room) {
        Some(room) if planner.spend(&tail, Level::Name, room).is_some() => {
            planner.degrade(&tail, room, &mut plan.levels);
        }
        // Before one is left out, all of them stand by name, the important ones included.
        _ if planner.spend(&all, Level::Name, room).is_some() => {
            planner.degrade(&all, room, &mut plan.levels)
        }
        // Not even the names fit: then a few that are told well are worth more than many that are only named.
        Some(room) => planner.degrade(&tail, room, &mut plan.levels),
        None => {
            tail.iter().for_each(|at| plan.levels[*at] = Level::Omitted);
            planner.degrade(&head, room, &mut plan.levels);
        }
    }
    planner.correct(&mut plan, &head, &tail);
    planner.acquit(&mut plan.levels);
    plan
}

struct Planner<'p, 'a> {
    entries: &'p [Entry<'a>],
    form: &'p Form<'p>,
    budget: &'p Budget<'p>,
    /// What was priced before, entry by entry and level by level; empty while each is priced only once.
    prices: RefCell<Vec<[Option<Cost>; 3]>>,
}

impl Planner<'_, '_> {
    /// Whether everything fits. Stops as soon as it does not: a hundred thousand skills are never all priced.
    fn all_fit(&self) -> bool {
        let all: Vec<usize> = (0..self.entries.len()).collect();
        // A token is at least a byte. Where the bytes fit, nothing has to be counted, and no vocabulary to be loaded.
        let in_bytes = self.budget.in_bytes();
        let bytes =
            Planner { entries: self.entries, form: self.form, budget: &in_bytes, prices: RefCell::default() };
        let frame = in_bytes.left(&self.form.frame(None));
        if frame.is_some_and(|room| bytes.spend(&all, Level::Full, room).is_some()) {
            return true;
        }
        let frame = self.budget.left(&self.form.frame(None));
        frame.is_some_and(|room| self.spend(&all, Level::Full, room).is_some())
    }

    /// Those that are cut last, the most important first; and the others, in the order of the catalog.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let (mut head, tail): (Vec<usize>, Vec<usize>) =
            (0..self.entries.len()).partition(|at| self.entries[*at].rank > 0);
        head.sort_by_key(|at| std::cmp::Reverse(self.entries[*at].rank));
        (head, tail)
    }

    fn price(&self, at: usize, level: Level) -> Cost {
        let known = self.prices.borrow().get(at).and_then(|levels| *levels.get(level as usize)?);
        known.unwrap_or_else(|| {
            let price = self.budget.cost(&self.form.entry(&self.entries[at], level));
            let mut prices = self.prices.borrow_mut();
            if let Some(place) = prices.get_mut(at).and_then(|levels| levels.get_mut(level as usize)) {
                *place = Some(price);
            }
            price
        })
    }

    /// What is left after telling all of these at one level; `None` if it is not enough.
    fn spend(&self, which: &[usize], level: Level, room: Cost) -> Option<Cost> {
        which.iter().try_fold(room, |room, at| room.minus(self.price(*at, level)))
    }

    /// Shortens from the end, then tells names only from the end, then leaves out from the end.
    fn degrade(&self, which: &[usize], room: Cost, levels: &mut [Level]) {
        for (better, worse) in [(Level::Full, Level::Short), (Level::Short, Level::Name)] {
            let Some(mut left) = self.spend(which, worse, room) else { continue };
            // Everything fits at the worse level; raise from the front as far as that goes.
            for at in which {
                let (low, high) = (self.price(*at, worse), self.price(*at, better));
                let raise = Cost {
                    chars: high.chars.saturating_sub(low.chars),
                    tokens: high.tokens.saturating_sub(low.tokens),
                };
                match left.minus(raise) {
                    Some(after) => (left, levels[*at]) = (after, better),
                    None => {
                        levels[*at] = worse;
                        left = Cost { chars: 0, tokens: 0 };
                    }
                }
            }
            return;
        }
        let mut left = Some(room);
        for at in which {
            left = left.and_then(|room| room.minus(self.price(*at, Level::Name)));
            levels[*at] = if left.is_some() { Level::Name } else { Level::Omitted };
        }
    }

    /// What reads the same in full was not cut: a description that is short already, a skill that is told by name only.
    fn acquit(&self, levels: &mut [Level]) {
        for (entry, level) in self.entries.iter().zip(levels) {
            let told = *level != Level::Full && *level != Level::Omitted;
            if told && self.form.entry(entry, *level) == self.form.entry(entry, Level::Full) {
                *level = Level::Full;
            }
        }
    }

    /// Parts may cost a token more together than apart; the whole is what counts, so the last of the list go.
    fn correct(&self, plan: &mut Plan, head: &[usize], tail: &[usize]) {
        for at in tail.iter().rev().chain(head.iter().rev()) {
            if self.budget.holds(&self.form.render(self.entries, plan)) {
                return;
            }
            plan.levels[*at] = Level::Omitted;
        }
    }
}
