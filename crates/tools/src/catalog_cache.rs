//! A cache of catalogs (the lists of skills for a model) for the latest snapshot: a turn does not render a catalog again
//! while the skills are unchanged.

use std::sync::{Arc, Mutex, PoisonError};

use prowess::Snapshot;
use prowess::catalog::{Catalog, CatalogBudget, CatalogRequest};
use prowess::policy::{CatalogFormat, LocationVisibility};

use crate::tokens;

/// The maximum number of cached catalogs: messages that match different skills may get different ones.
const CATALOGS_MAX: usize = 16;

/// The inputs of a catalog, besides the snapshot and the policy of the toolbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CatalogKey {
    pub(crate) format: CatalogFormat,
    pub(crate) location: LocationVisibility,
    pub(crate) chars: Option<u32>,
    pub(crate) tokens: Option<u32>,
    pub(crate) order: CutOrder,
    /// The skills with `paths` that are listed.
    pub(crate) with_paths: Vec<String>,
    pub(crate) search_tool: Option<&'static str>,
}

impl CatalogKey {
    pub(crate) fn request(&self) -> CatalogRequest<'_> {
        CatalogRequest {
            format: self.format,
            location: self.location,
            budget: CatalogBudget::chars(self.chars).and_tokens(self.tokens, &tokens::count),
            relevant: &self.order.relevant,
            recent: &self.order.recent,
            with_paths: &self.with_paths,
            search_tool: self.search_tool,
        }
    }
}

/// The skills that are cut last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CutOrder {
    pub(crate) relevant: Vec<String>,
    pub(crate) recent: Vec<String>,
}

/// The cached catalogs of one snapshot, the most recently used last.
#[derive(Debug, Default)]
pub(crate) struct CatalogCache(Mutex<Option<(Arc<Snapshot>, Vec<CachedCatalog>)>>);

#[derive(Debug)]
struct CachedCatalog {
    key: CatalogKey,
    catalog: Arc<Catalog>,
}

impl CachedCatalog {
    /// Returns `true` if this catalog matches a key. If nothing was cut, the order does not matter.
    fn matches(&self, key: &CatalogKey) -> bool {
        let CatalogKey { format, location, chars, tokens, order, with_paths, search_tool } = &self.key;
        (format, location, chars, tokens) == (&key.format, &key.location, &key.chars, &key.tokens)
            && (with_paths, search_tool) == (&key.with_paths, &key.search_tool)
            && (*order == key.order || self.catalog.plan.is_complete())
    }
}

impl CatalogCache {
    /// Returns the catalog for a key, from the cache or from `make`.
    pub(crate) fn get(
        &self,
        snapshot: &Arc<Snapshot>,
        key: CatalogKey,
        make: impl FnOnce(&CatalogKey) -> Catalog,
    ) -> Arc<Catalog> {
        if let Some(cached) = self.cached(snapshot, &key) {
            return cached;
        }
        // Do not hold the lock while rendering, so that other turns do not wait.
        let catalog = Arc::new(make(&key));
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (cached_snapshot, catalogs) = cache.get_or_insert_with(|| (Arc::clone(snapshot), Vec::new()));
        if !Arc::ptr_eq(cached_snapshot, snapshot) {
            (*cached_snapshot, *catalogs) = (Arc::clone(snapshot), Vec::new());
        }
        if catalogs.len() >= CATALOGS_MAX {
            catalogs.remove(0);
        }
        catalogs.push(CachedCatalog { key, catalog: Arc::clone(&catalog) });
        catalog
    }

    fn cached(&self, snapshot: &Arc<Snapshot>, key: &CatalogKey) -> Option<Arc<Catalog>> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, catalogs) =
            cache.as_mut().filter(|(cached_snapshot, _)| Arc::ptr_eq(cached_snapshot, snapshot))?;
        let index = catalogs.iter().position(|cached| cached.matches(key))?;
        let cached = catalogs.remove(index);
        let catalog = Arc::clone(&cached.catalog);
        catalogs.push(cached);
        Some(catalog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess::catalog::render_catalog;
    use prowess::{Policy, Registry};

    #[test]
    fn a_catalog_is_rendered_once_per_snapshot_and_key() {
        let registry = Registry::open(Policy::default()).unwrap();
        let (snapshot, catalogs) = (registry.snapshot(), CatalogCache::default());
        let key = |chars: u32, relevant: &str| CatalogKey {
            format: CatalogFormat::Xml,
            location: LocationVisibility::Hidden,
            chars: Some(chars),
            tokens: None,
            order: CutOrder { relevant: vec![relevant.to_owned()], recent: Vec::new() },
            with_paths: Vec::new(),
            search_tool: None,
        };
        let is_made = |snapshot: &Arc<Snapshot>, key: CatalogKey| {
            let mut built = false;
            let catalog = catalogs.get(snapshot, key.clone(), |key| {
                built = true;
                render_catalog(snapshot, registry.policy(), &key.request())
            });
            assert_eq!(*catalog, render_catalog(snapshot, registry.policy(), &key.request()));
            built
        };
        let (enough, little) = (100_000, 1);
        assert!(is_made(&snapshot, key(enough, "a")));
        assert!(!is_made(&snapshot, key(enough, "a")));
        assert!(!is_made(&snapshot, key(enough, "b")), "nothing is cut, so the order does not matter");
        assert!(is_made(&snapshot, key(little, "a")));
        assert!(is_made(&snapshot, key(little, "b")), "the order decides what is cut");
        assert!(!is_made(&snapshot, key(little, "a")));
        let other = Registry::open(Policy::default()).unwrap().snapshot();
        assert!(is_made(&other, key(enough, "a")));
        assert!(is_made(&snapshot, key(enough, "a")));
    }
}
