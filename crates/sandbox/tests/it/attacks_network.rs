//! Attacks on the network: TCP, UDP, UNIX sockets by path and by abstract name.

#![cfg(target_os = "linux")]

use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use prowess_sandbox::{NetworkAccess, Protection};
use prowess_testing::script_env::{ScriptEnv, TIERS};

const TRY: &str = r#"
import socket, sys, os
tcp, udp, path, dgram, abstract = sys.argv[1:]
def attempt(name, f):
    try:
        f(); print("REACHED", name)
    except OSError as e:
        print(name, "denied")
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", int(tcp)), 2).send(b"x"))
attempt("tcp6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_STREAM))
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(udp))))
attempt("unix", lambda: socket.socket(socket.AF_UNIX).connect(path))
attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect("\0" + abstract))
attempt("raw", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("bind", lambda: socket.socket().bind(("127.0.0.1", 0)))
# A pair of one's own that is then pointed at somebody else.
def redirected():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.sendto(b"x", dgram)
attempt("pair", redirected)
def stream_pair():
    a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
attempt("own pair", stream_pair)
kept = socket.socketpair()
attempt("stream pair to others", lambda: kept[0].sendto(b"x", dgram))
attempt("message", lambda: kept[0].sendmsg([b"x"]))
"#;

const EXPECTED: &str = "tcp denied\ntcp6 denied\nudp denied\nunix denied\nabstract denied\nraw denied\nnetlink denied\n\
    vsock denied\nbind denied\npair denied\nREACHED own pair\nstream pair to others denied\nmessage denied\n";

#[test]
fn tcp_udp_and_local_sockets_are_unreachable() {
    let env = ScriptEnv::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let path = env.path("service.sock");
    let unix = UnixListener::bind(&path).unwrap();
    let dgram_path = env.path("log.sock");
    let dgram = UnixDatagram::bind(&dgram_path).unwrap();
    for path in [&path, &dgram_path] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    }
    let name = format!("prowess-test-{}", std::process::id());
    let abstract_ = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    for nonblocking in [tcp.set_nonblocking(true), udp.set_nonblocking(true), unix.set_nonblocking(true)] {
        nonblocking.unwrap();
    }
    dgram.set_nonblocking(true).unwrap();
    abstract_.set_nonblocking(true).unwrap();
    let ports = [tcp.local_addr().unwrap().port().to_string(), udp.local_addr().unwrap().port().to_string()];
    let (path, dgram_path) = (path.display().to_string(), dgram_path.display().to_string());
    let args = [ports[0].as_str(), &ports[1], &path, &dgram_path, &name];
    for tier in TIERS {
        let result = env.script("x.py", TRY).args(&args).run_on(tier).unwrap();
        assert_eq!(result.stdout_text(), EXPECTED, "{tier}: {}", result.stderr_text());
        assert!(tcp.accept().is_err() && unix.accept().is_err() && abstract_.accept().is_err(), "{tier}");
        let mut buffer = [0; 8];
        assert!(udp.recv(&mut buffer).is_err() && dgram.recv(&mut buffer).is_err(), "{tier}");
    }
}

/// Without a sandbox the attacks work, so the tests are meaningful.
#[test]
fn the_attacks_succeed_without_a_sandbox() {
    let env = ScriptEnv::new();
    let args = ["1", "1", "/none", "/none", "none"];
    let result =
        env.script("x.py", TRY).args(&args).run_with(|options| options.protection = Protection::Unsafe);
    let out = result.unwrap().stdout_text();
    for name in ["udp", "tcp6", "netlink", "bind", "message"] {
        assert!(out.contains(&format!("REACHED {name}\n")), "{out}");
    }
}

/// The user can grant network access. UNIX sockets stay inaccessible.
#[test]
fn granted_skills_can_use_the_network() {
    let text = r#"
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5); s.sendall(b"hello"); s.close()
for family in (socket.AF_UNIX, socket.AF_PACKET):
    try:
        socket.socket(family); print("REACHED", family)
    except OSError: pass
try:
    socket.socket().listen(); print("LISTENS")
except OSError: pass
"#;
    let mut env = ScriptEnv::new();
    env.policy.run.network = vec!["s".to_owned()];
    for tier in TIERS {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port().to_string();
        let received = std::thread::spawn(move || {
            let mut text = String::new();
            tcp.accept().unwrap().0.read_to_string(&mut text).unwrap();
            text
        });
        let result = env.script("x.py", text).args(&[&port]).run_on(tier).unwrap();
        assert_eq!(
            (result.exit_code, result.stdout_text()),
            (Some(0), String::new()),
            "{tier}: {}",
            result.stderr_text()
        );
        assert_eq!(received.join().unwrap(), "hello");
    }
    env.policy.run.network = vec!["other".to_owned()];
    let result = env.script("x.py", text).args(&["1"]).run().unwrap();
    assert_eq!(result.exit_code, Some(1));
    let result = env
        .script("x.py", "import socket; socket.socket()")
        .run_with(|options| options.network = Some(NetworkAccess::On))
        .unwrap();
    assert_eq!(result.exit_code, Some(0));
}

/// With network access, a script can query addresses and routes, but nothing else through netlink.
#[test]
fn netlink_is_limited_to_addresses_and_routes() {
    let text = "import socket\nfor protocol in range(23):\n    try:\n        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol); print(protocol)\n    \
                except OSError: pass\n";
    let env = ScriptEnv::new();
    let on = |protection| {
        let script = env.script("x.py", text);
        let result = script.run_with(|options| {
            (options.network, options.protection) = (Some(NetworkAccess::On), protection)
        });
        result.unwrap().stdout_text()
    };
    for tier in TIERS {
        assert_eq!(on(Protection::Only(tier)), "0\n", "{tier}");
    }
    assert!(on(Protection::Unsafe).lines().count() > 1, "other protocols exist");
}

#[test]
fn rerun_as_unprivileged_user() {
    prowess_testing::script_env::rerun_as_unprivileged_user(module_path!());
}
