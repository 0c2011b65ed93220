//! The bindings between the host and the engine: functions for toolsets, and functions that the host calls.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Ctx, Function, Object, Persistent};

use super::limits::ToolsetLimits;
use super::watch::ExecutionWatch;

/// The functions of `js/border.js`.
pub(super) struct HostBindings {
    pub(super) describe: Persistent<Function<'static>>,
    pub(super) call: Persistent<Function<'static>>,
    pub(super) describe_error: Persistent<Function<'static>>,
    pub(super) abort: Persistent<Function<'static>>,
}

impl HostBindings {
    pub(super) fn new(
        ctx: &Ctx<'_>,
        watch: &Rc<ExecutionWatch>,
        console: &Rc<RefCell<Vec<String>>>,
        limits: &ToolsetLimits,
    ) -> rquickjs::Result<Self> {
        let host = Object::new(ctx.clone())?;
        let (lines, max) = (Rc::clone(console), limits.console);
        host.set("log", Function::new(ctx.clone(), move |line: String| log(&lines, line, max))?)?;
        let cancelled = Rc::clone(watch);
        host.set("aborted", Function::new(ctx.clone(), move || cancelled.is_cancelled())?)?;
        host.set("url", Function::new(ctx.clone(), url_parts)?)?;
        host.set("decode", Function::new(ctx.clone(), decode)?)?;
        ctx.eval::<Function, _>(include_str!("js/globals.js"))?.call::<_, ()>((host.clone(),))?;
        let limits_object = Object::new(ctx.clone())?;
        limits_object.set("output", limits.output)?;
        limits_object.set("metadata", limits.metadata)?;
        limits_object.set("attachments", limits.attachments)?;
        let bindings: Object =
            ctx.eval::<Function, _>(include_str!("js/border.js"))?.call((host, limits_object))?;
        let function =
            |name: &str| bindings.get::<_, Function>(name).map(|function| Persistent::save(ctx, function));
        Ok(Self {
            describe: function("describe")?,
            call: function("call")?,
            describe_error: function("describeError")?,
            abort: function("abort")?,
        })
    }
}

fn log(lines: &RefCell<Vec<String>>, line: String, max: usize) {
    let mut lines = lines.borrow_mut();
    let used: usize = lines.iter().map(|line| line.len() + 1).sum();
    if used + line.len() < max {
        lines.push(prowess::contained::strip_terminal_escapes(line));
    }
}

/// Returns the parts of a URL as JSON, or an empty string if it is invalid.
fn url_parts(text: String, base: String, has_base: bool) -> String {
    let parsed = match has_base {
        true => url::Url::parse(&base).and_then(|base| base.join(&text)),
        false => url::Url::parse(&text),
    };
    parsed.map_or_else(|_| String::new(), |url| parts_of(&url).to_string())
}

fn parts_of(url: &url::Url) -> serde_json::Value {
    use url::quirks;
    serde_json::json!({
        "href": quirks::href(url), "origin": quirks::origin(url), "protocol": quirks::protocol(url),
        "username": quirks::username(url), "password": quirks::password(url), "host": quirks::host(url),
        "hostname": quirks::hostname(url), "port": quirks::port(url), "pathname": quirks::pathname(url),
        "search": quirks::search(url), "hash": quirks::hash(url),
    })
}

/// Decodes bytes, passed as one character each, as UTF-8. Invalid bytes become U+FFFD.
fn decode(ctx: Ctx<'_>, bytes: String) -> rquickjs::Result<Object<'_>> {
    let bytes: Vec<u8> = bytes.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    let text = String::from_utf8_lossy(&bytes);
    let decoded = Object::new(ctx)?;
    decoded.set("lossy", matches!(text, std::borrow::Cow::Owned(_)))?;
    decoded.set("text", text.into_owned())?;
    Ok(decoded)
}
