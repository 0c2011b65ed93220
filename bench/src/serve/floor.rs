//! A minimal server that returns the same bytes.

use std::path::Path;

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;

use super::Any;

/// Serves the content of a file at `/bytes`.
pub(super) async fn serve(file: &Path) -> Result<(), Any> {
    let bytes = Bytes::from(std::fs::read(file)?);
    let respond = move || {
        let bytes = bytes.clone();
        async move { ([(CONTENT_TYPE, "application/json")], bytes) }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/", listener.local_addr()?);
    axum::serve(listener, Router::new().route("/bytes", get(respond))).await?;
    Ok(())
}
