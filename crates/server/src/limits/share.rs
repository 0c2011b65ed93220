//! How many connections one address may have, so that it cannot take all of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::Key;

/// An address may always have this many.
const LEAST: usize = 16;

/// The connections of each address. The table is as long as there are addresses with an open connection.
#[derive(Clone)]
pub(crate) struct PerAddress {
    most: usize,
    open: Arc<Mutex<HashMap<Key<'static>, usize>>>,
}

/// One connection of an address, given back when it is dropped.
pub(crate) struct Share {
    of: PerAddress,
    key: Key<'static>,
}

impl PerAddress {
    /// Each address may have a quarter of all connections.
    pub(crate) fn of(connections: usize) -> Self {
        Self { most: (connections / 4).max(LEAST), open: Arc::default() }
    }

    /// Counts a connection; `None` if the address has its share already.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Share> {
        let key = Key::of(Some(address));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(key).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        drop(open);
        Some(Share { of: self.clone(), key })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut open = self.of.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_has_a_quarter_and_gives_it_back() {
        let shares = PerAddress::of(80);
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let mut taken: Vec<_> = (0..20).filter_map(|_| shares.take(one)).collect();
        assert_eq!(taken.len(), 20);
        assert!(shares.take(one).is_none());
        assert!(shares.take(other).is_some());
        taken.pop();
        assert!(shares.take(one).is_some());
        drop(taken);
        assert!(shares.open.lock().unwrap().is_empty());
    }
}
