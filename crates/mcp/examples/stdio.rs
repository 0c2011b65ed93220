//! Serves the user's and the project's skills on standard input and output, from a custom program.
//!
//! `cargo run --all-features -p prowess-mcp --example stdio`, and then, for instance:
//!
//! ```text
//! {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"me","version":"1"}}}
//! {"jsonrpc":"2.0","id":2,"method":"tools/list"}
//! ```

use std::sync::Arc;

use prowess::{Policy, Registry};
use prowess_mcp::{McpServer, McpServerOptions, stdio};
use prowess_tools::Toolbox;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Must come first: a program that runs scripts is also the helper of the sandbox.
    prowess_sandbox::helper_main();
    let toolbox = Toolbox::new(Arc::new(Registry::open(Policy::default())?));
    let server = McpServer::new(toolbox, McpServerOptions::default());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(stdio::serve(&server, std::future::pending()))?)
}
