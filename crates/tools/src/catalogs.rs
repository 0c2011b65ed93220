//! A cache of catalogs for the latest snapshot: a turn does not render a catalog again while the skills are unchanged.

use std::sync::{Arc, Mutex, PoisonError};

use prowess::Snapshot;
use prowess::disclose::{Budget, Catalog, Request};
use prowess::policy::{CatalogFormat, Location};

use crate::tokens;

/// How many catalogs are kept: messages that ask for different skills may get different ones.
const KEPT: usize = 16;

/// What a catalog depends on, besides the snapshot and the policy of the toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) format: CatalogFormat,
    pub(crate) location: Location,
    pub(crate) chars: Option<u32>,
    pub(crate) tokens: Option<u32>,
    pub(crate) order: Order,
}

impl Wanted {
    pub(crate) fn request(&self) -> Request<'_> {
        Request {
            format: self.format,
            location: self.location,
            budget: Budget::chars(self.chars).and_tokens(self.tokens, &tokens::count),
            relevant: &self.order.relevant,
            recent: &self.order.recent,
        }
    }
}

/// The names that are cut last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) relevant: Vec<String>,
    pub(crate) recent: Vec<String>,
}

/// The cached catalogs of one snapshot, the most recently used last.
#[derive(Debug, Default)]
pub(crate) struct Catalogs(Mutex<Option<(Arc<Snapshot>, Vec<Made>)>>);

#[derive(Debug)]
struct Made {
    wanted: Wanted,
    catalog: Arc<Catalog>,
}

impl Made {
    /// Whether this catalog answers a request. Where nothing was cut, the order in which skills are cut does not matter.
    fn is(&self, wanted: &Wanted) -> bool {
        let Wanted { format, location, chars, tokens, order } = &self.wanted;
        (format, location, chars, tokens) == (&wanted.format, &wanted.location, &wanted.chars, &wanted.tokens)
            && (*order == wanted.order || self.catalog.plan.is_whole())
    }
}

impl Catalogs {
    /// Returns the catalog for a request, from the cache or from `make`.
    pub(crate) fn get(
        &self,
        snapshot: &Arc<Snapshot>,
        wanted: Wanted,
        make: impl FnOnce(&Wanted) -> Catalog,
    ) -> Arc<Catalog> {
        if let Some(known) = self.known(snapshot, &wanted) {
            return known;
        }
        // The lock is not held meanwhile, so that other turns do not wait.
        let catalog = Arc::new(make(&wanted));
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (of, all) = kept.get_or_insert_with(|| (Arc::clone(snapshot), Vec::new()));
        if !Arc::ptr_eq(of, snapshot) {
            (*of, *all) = (Arc::clone(snapshot), Vec::new());
        }
        if all.len() >= KEPT {
            all.remove(0);
        }
        all.push(Made { wanted, catalog: Arc::clone(&catalog) });
        catalog
    }

    fn known(&self, snapshot: &Arc<Snapshot>, wanted: &Wanted) -> Option<Arc<Catalog>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, all) = kept.as_mut().filter(|(of, _)| Arc::ptr_eq(of, snapshot))?;
        let at = all.iter().position(|made| made.is(wanted))?;
        let made = all.remove(at);
        let catalog = Arc::clone(&made.catalog);
        all.push(made);
        Some(catalog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess::disclose::catalog;
    use prowess::{Policy, Registry};

    #[test]
    fn a_catalog_is_made_once_for_each_snapshot_and_request() {
        let registry = Registry::open(Policy::default()).unwrap();
        let (snapshot, catalogs) = (registry.snapshot(), Catalogs::default());
        let wanted = |chars: u32, relevant: &str| Wanted {
            format: CatalogFormat::Xml,
            location: Location::Hidden,
            chars: Some(chars),
            tokens: None,
            order: Order { relevant: vec![relevant.to_owned()], recent: Vec::new() },
        };
        let is_made = |snapshot: &Arc<Snapshot>, wanted: Wanted| {
            let mut made = false;
            let got = catalogs.get(snapshot, wanted.clone(), |wanted| {
                made = true;
                catalog(snapshot, registry.policy(), &wanted.request())
            });
            assert_eq!(*got, catalog(snapshot, registry.policy(), &wanted.request()));
            made
        };
        let (enough, little) = (100_000, 1);
        assert!(is_made(&snapshot, wanted(enough, "a")));
        assert!(!is_made(&snapshot, wanted(enough, "a")));
        assert!(!is_made(&snapshot, wanted(enough, "b")), "nothing is cut, so the order does not matter");
        assert!(is_made(&snapshot, wanted(little, "a")));
        assert!(is_made(&snapshot, wanted(little, "b")), "the order decides what is cut");
        assert!(!is_made(&snapshot, wanted(little, "a")));
        let other = Registry::open(Policy::default()).unwrap().snapshot();
        assert!(is_made(&other, wanted(enough, "a")));
        assert!(is_made(&snapshot, wanted(enough, "a")));
    }
}
