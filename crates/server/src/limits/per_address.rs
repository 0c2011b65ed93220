//! A limit on the connections of one address, so that it cannot use all of them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::ClientKey;

/// The number of connections that every address may have.
const PER_ADDRESS_MIN: usize = 16;

/// The number of open connections of each address. Only addresses with an open connection have an entry.
#[derive(Clone)]
pub(crate) struct ConnectionsPerAddress {
    max: usize,
    open: Arc<Mutex<HashMap<ClientKey<'static>, usize>>>,
}

/// Permission for one connection of an address, returned on drop.
pub(crate) struct AddressPermit {
    limit: ConnectionsPerAddress,
    key: ClientKey<'static>,
}

impl ConnectionsPerAddress {
    /// Allows each address a quarter of all connections.
    pub(crate) fn new(connections: usize) -> Self {
        Self { max: (connections / 4).max(PER_ADDRESS_MIN), open: Arc::default() }
    }

    /// Counts a connection; `None` if the address has reached its limit.
    pub(crate) fn take(&self, address: IpAddr) -> Option<AddressPermit> {
        let key = ClientKey::from_address(Some(address));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(key).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        drop(open);
        Some(AddressPermit { limit: self.clone(), key })
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let mut open = self.limit.open.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn one_address_may_use_a_quarter_of_the_connections() {
        let limit = ConnectionsPerAddress::new(80);
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(|text| text.parse().unwrap());
        let mut taken: Vec<_> = (0..20).filter_map(|_| limit.take(one)).collect();
        assert_eq!(taken.len(), 20);
        assert!(limit.take(one).is_none());
        assert!(limit.take(other).is_some());
        taken.pop();
        assert!(limit.take(one).is_some());
        drop(taken);
        assert!(limit.open.lock().unwrap().is_empty());
    }
}
