//! Minimal clients, so that mainly the server is measured.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

pub(crate) type Any = Box<dyn Error + Send + Sync>;

/// A client of an MCP server.
pub(crate) trait Client {
    /// Sends a request and waits for its result.
    fn request(&mut self, method: &str, params: Value) -> Result<Value, Any>;

    /// Initializes the session.
    fn initialize(&mut self) -> Result<(), Any>;
}

fn initialize_params() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
}

fn result(mut response: Value) -> Result<Value, Any> {
    match response.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(format!("no result: {response}").into()),
    }
}

/// A client over stdio, with its server process.
pub(crate) struct StdioClient {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
    line: String,
}

impl StdioClient {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Any> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output, id: 0, line: String::new() })
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client for StdioClient {
    fn request(&mut self, method: &str, params: Value) -> Result<Value, Any> {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.input.write_all(format!("{message}\n").as_bytes())?;
        loop {
            self.line.clear();
            if self.output.read_line(&mut self.line)? == 0 {
                return Err("the server closed the connection".into());
            }
            let response: Value = serde_json::from_str(&self.line)?;
            if response["id"] == self.id {
                return result(response);
            }
        }
    }

    fn initialize(&mut self) -> Result<(), Any> {
        self.request("initialize", initialize_params())?;
        Ok(self.input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?)
    }
}

/// A session over HTTP on one persistent connection.
pub(crate) struct HttpClient {
    stream: BufReader<TcpStream>,
    host: String,
    session: Option<String>,
    id: u64,
}

impl HttpClient {
    /// Connects to a URL such as `http://127.0.0.1:80/mcp`.
    pub(crate) fn connect(url: &str) -> Result<Self, Any> {
        let host =
            url.strip_prefix("http://").and_then(|address| address.split('/').next()).ok_or("invalid URL")?;
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), host: host.to_owned(), session: None, id: 0 })
    }

    fn post(&mut self, message: &Value) -> Result<String, Any> {
        let body = message.to_string();
        let session = self.session.as_ref().map(|id| format!("mcp-session-id: {id}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\n{session}mcp-protocol-version: 2025-11-25\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut length, mut chunked, mut line) = (0, false, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err("the server closed the connection".into());
            }
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            chunked |= header == "transfer-encoding: chunked";
            if let Some(id) = header.strip_prefix("mcp-session-id:") {
                self.session = Some(id.trim().to_owned());
            }
        }
        let mut body = Vec::new();
        if chunked {
            loop {
                line.clear();
                self.stream.read_line(&mut line)?;
                let size = usize::from_str_radix(line.trim(), 16)?;
                let start = body.len();
                body.resize(start + size, 0);
                self.stream.read_exact(&mut body[start..])?;
                line.clear();
                self.stream.read_line(&mut line)?;
                if size == 0 {
                    break;
                }
            }
        } else {
            body.resize(length, 0);
            self.stream.read_exact(&mut body)?;
        }
        Ok(String::from_utf8(body)?)
    }
}

impl Client for HttpClient {
    fn request(&mut self, method: &str, params: Value) -> Result<Value, Any> {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let body = self.post(&message)?;
        let mut messages = body
            .lines()
            .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
            .filter(|line| line.starts_with('{'));
        let response = messages.find_map(|text| {
            let response: Value = serde_json::from_str(text).ok()?;
            (response["id"] == self.id).then_some(response)
        });
        result(response.ok_or_else(|| format!("no response in {body}"))?)
    }

    fn initialize(&mut self) -> Result<(), Any> {
        self.request("initialize", initialize_params())?;
        self.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).map(drop)
    }
}
