//! Determines which user of this machine opened a connection.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::sync::OnceCell;

/// The user id that the kernel shows for users outside of the namespace of this process.
const OVERFLOW_UID: u32 = 65_534;

/// How often the tables are read. A connection can be missed if others end while a table is read.
const TABLE_READS: usize = 2;

/// The other end of a connection.
#[derive(Debug, Clone)]
pub struct Peer {
    client: SocketAddr,
    server: Option<SocketAddr>,
    same_user: Arc<OnceCell<bool>>,
}

impl Peer {
    /// Creates the peer of the connection from `client` to `server`; `None` if the local address is unknown.
    pub fn new(client: SocketAddr, server: Option<SocketAddr>) -> Self {
        Self { client, server, same_user: Arc::default() }
    }

    /// Returns the address of the client.
    pub fn ip(&self) -> IpAddr {
        self.client.ip()
    }

    /// Returns `true` if the connection comes from this machine, and from the user who runs this process or from
    /// root. The result is cached for each connection.
    pub async fn is_same_user(&self) -> bool {
        let Self { client, server: Some(server), same_user } = self else { return false };
        let (client, server) = (*client, *server);
        let check = || async move {
            tokio::task::spawn_blocking(move || is_same_user(client, server)).await.unwrap_or(false)
        };
        *same_user.get_or_init(check).await
    }
}

/// Returns `true` if the connection from `client` to `server`, both on this machine, belongs to the user who runs
/// this process, or to root. Always returns `false` on systems other than Linux, because the owner is unknown
/// there.
fn is_same_user(client: SocketAddr, server: SocketAddr) -> bool {
    if !cfg!(target_os = "linux") || !client.ip().to_canonical().is_loopback() {
        return false;
    }
    let own_uid = prowess_fs::current_uid();
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
    std::iter::repeat_n(tables, TABLE_READS)
        .flatten()
        .filter_map(|table| File::open(table).ok())
        .find_map(|table| socket_owner(BufReader::new(table), client, server))
        .is_some_and(|uid| uid == 0 || (uid == own_uid && uid != OVERFLOW_UID))
}

/// Returns the user id of the socket that is bound to `client` and connected to `server`. A closed socket has no
/// inode and is shown with the user id 0; it has no owner.
fn socket_owner(table: impl BufRead, client: SocketAddr, server: SocketAddr) -> Option<u32> {
    let (client, server) = (canonical(client), canonical(server));
    table.lines().map_while(Result::ok).skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().take(10).collect();
        let [_, local, remote, _, _, _, _, uid, _, inode] = fields[..] else { return None };
        if parse_address(local)? != client || parse_address(remote)? != server || inode == "0" {
            return None;
        }
        uid.parse().ok()
    })
}

fn canonical(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

/// Parses an address of the table: 32-bit words in native byte order, and the port, in hexadecimal digits.
fn parse_address(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let word = |index: usize| {
        let digits = address.get(index * 8..index * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    let address = match address.len() {
        8 => IpAddr::from(word(0)?),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some((address, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1EC6 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 548 1 0 100 0 0 10 0
   1: 0100007F:9C40 0100007F:1EC6 01 00000000:00000000 00:00000000 00000000  1001        0 900 1 0 20 4 30 10 -1
   2: 0100007F:1EC6 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 901 1 0 20 4 30 10 -1
   3: 0100007F:9C41 0100007F:1EC6 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   4: 00000000000000000000000001000000:9C42 00000000000000000000000001000000:1EC6 01 00000000:00000000 00:00000000 00000000  1002        0 902 1 0
   5: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000100007F:1EC6 01 00000000:00000000 00:00000000 00000000  1003        0 903 1 0
   6: broken
";

    #[test]
    fn the_owner_of_a_connection_is_the_user_of_its_socket() {
        let owner = |client: &str, server: &str| {
            socket_owner(TABLE.as_bytes(), client.parse().unwrap(), server.parse().unwrap())
        };
        assert_eq!(owner("127.0.0.1:40000", "127.0.0.1:7878"), Some(1001));
        assert_eq!(owner("[::1]:40002", "[::1]:7878"), Some(1002));
        assert_eq!(owner("127.0.0.1:40003", "127.0.0.1:7878"), Some(1003));
        assert_eq!(owner("[::ffff:127.0.0.1]:40000", "127.0.0.1:7878"), Some(1001));
        // A closed socket is shown with the user id 0 and has no owner.
        assert_eq!(owner("127.0.0.1:40001", "127.0.0.1:7878"), None);
        assert_eq!(owner("127.0.0.1:40000", "127.0.0.1:7879"), None);
        assert_eq!(owner("127.0.0.1:40009", "127.0.0.1:7878"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_connection_of_this_process_has_the_same_user() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(server).unwrap();
        let address = client.local_addr().unwrap();
        let (accepted, _) = listener.accept().unwrap();
        assert!(is_same_user(address, server));
        assert!(!is_same_user("192.0.2.1:1".parse().unwrap(), server));
        drop(client);
        assert!(!is_same_user(address, server), "a closed socket has no owner");
        drop(accepted);
    }
}
