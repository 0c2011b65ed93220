//! Forwards connections from the network of a program to a port of this machine.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The maximum number of connections at the same time. More are closed at once.
const CONNECTIONS_MAX: usize = 64;

/// How often the end is checked.
const TICK: Duration = Duration::from_millis(50);

/// Forwards connections until it is dropped, which closes all of them.
#[derive(Debug)]
pub(super) struct PortForwarder {
    shared: Arc<ForwarderState>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct ForwarderState {
    ended: AtomicBool,
    open: Mutex<Vec<Arc<Connection>>>,
}

/// The two ends of a connection.
#[derive(Debug)]
struct Connection {
    inner: TcpStream,
    outer: TcpStream,
    /// How many of its two directions have ended.
    ended_directions: Mutex<u8>,
}

impl PortForwarder {
    /// Starts to forward the connections of `listener` to `port`.
    pub(super) fn start(listener: TcpListener, port: u16) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let shared = Arc::new(ForwarderState::default());
        let state = Arc::clone(&shared);
        let accepting = std::thread::Builder::new()
            .name("gateway-forwarder".to_owned())
            .spawn(move || accept_connections(&listener, port, &state))?;
        Ok(Self { shared, accepting: Some(accepting) })
    }
}

impl Drop for PortForwarder {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        for connection in self.shared.open.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            connection.close();
        }
    }
}

fn accept_connections(listener: &TcpListener, port: u16, state: &Arc<ForwarderState>) {
    let tick = Timespec::try_from(TICK).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
    while !state.ended.load(Ordering::Acquire) {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        match poll(&mut fds, Some(&tick)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(_) => return,
        }
        if let Ok((inner, _)) = listener.accept() {
            // A connection that cannot be forwarded is closed; the program sees that.
            let _ = forward(inner, port, state);
        }
    }
}

fn forward(inner: TcpStream, port: u16, state: &Arc<ForwarderState>) -> io::Result<()> {
    inner.set_nonblocking(false)?;
    if state.open.lock().unwrap_or_else(PoisonError::into_inner).len() >= CONNECTIONS_MAX {
        return Err(io::Error::other("there are too many connections"));
    }
    let outer = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    inner.set_nodelay(true)?;
    outer.set_nodelay(true)?;
    let connection = Arc::new(Connection { inner, outer, ended_directions: Mutex::new(0) });
    state.open.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&connection));
    for is_request in [true, false] {
        let (copied, of_thread) = (Arc::clone(&connection), Arc::clone(state));
        let spawned = std::thread::Builder::new().name("gateway-connection".to_owned()).spawn(move || {
            copied.copy(is_request);
            copied.end_direction(&of_thread);
        });
        if spawned.is_err() {
            connection.close();
            connection.end_direction(state);
        }
    }
    Ok(())
}

impl Connection {
    /// Copies one direction until it ends.
    fn copy(&self, is_request: bool) {
        let (mut from, mut to) =
            if is_request { (&self.inner, &self.outer) } else { (&self.outer, &self.inner) };
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    }

    fn end_direction(self: &Arc<Self>, state: &ForwarderState) {
        let mut ended = self.ended_directions.lock().unwrap_or_else(PoisonError::into_inner);
        *ended += 1;
        if *ended == 2 {
            let mut open = state.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|other| !Arc::ptr_eq(other, self));
        }
    }

    fn close(&self) {
        let _ = self.inner.shutdown(Shutdown::Both);
        let _ = self.outer.shutdown(Shutdown::Both);
    }
}
