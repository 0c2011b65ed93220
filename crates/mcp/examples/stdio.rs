//! A server of the user's and the project's skills on standard input and output, in a program of your own.
//!
//! `cargo run --all-features -p prowess-mcp --example stdio`, and then, for instance:
//!
//! ```text
//! {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}
//! {"jsonrpc":"2.0","id":2,"method":"tools/list"}
//! ```

use std::sync::Arc;

use prowess::{Policy, Registry};
use prowess_mcp::{Options, Server, stdio};
use prowess_tools::Toolbox;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // First thing: a program that runs scripts is also the sandbox's helper.
    prowess_sandbox::helper_main();
    let toolbox = Toolbox::new(Arc::new(Registry::open(Policy::default())?));
    let server = Server::new(toolbox, Options::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(stdio::serve(&server, std::future::pending()))?)
}
