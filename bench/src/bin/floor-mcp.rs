//! A minimal MCP server that responds to every call with the text of a file.
//!
//! `floor-mcp FILE` uses stdio; `floor-mcp FILE http` listens on a free port and prints its URL.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use axum::serve::ListenerExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, ServiceExt};

#[derive(Clone)]
struct ConstantServer(Arc<str>);

impl ServerHandler for ConstantServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(self.0.to_string())]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let constant =
        ConstantServer(std::fs::read_to_string(args.next().ok_or("usage: floor-mcp FILE [http]")?)?.into());
    if args.next().is_none() {
        constant.serve(rmcp::transport::stdio_pipes()).await?.waiting().await?;
        return Ok(());
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let service: StreamableHttpService<ConstantServer, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(constant.clone()),
        Arc::default(),
        StreamableHttpServerConfig::default(),
    );
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
