//! The host's side of the border: the functions that a toolset's world is made of, and those that are called in it.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Ctx, Function, Object, Persistent};

use super::limits::Limits;
use super::watch::Watch;

/// The functions of `js/border.js`.
pub(super) struct Border {
    pub(super) describe: Persistent<Function<'static>>,
    pub(super) call: Persistent<Function<'static>>,
    pub(super) told: Persistent<Function<'static>>,
    pub(super) abort: Persistent<Function<'static>>,
}

impl Border {
    pub(super) fn new(
        ctx: &Ctx<'_>,
        watch: &Rc<Watch>,
        console: &Rc<RefCell<Vec<String>>>,
        limits: &Limits,
    ) -> rquickjs::Result<Self> {
        let host = Object::new(ctx.clone())?;
        let (lines, most) = (Rc::clone(console), limits.console);
        host.set("log", Function::new(ctx.clone(), move |line: String| log(&lines, line, most))?)?;
        let cancelled = Rc::clone(watch);
        host.set("aborted", Function::new(ctx.clone(), move || cancelled.is_cancelled())?)?;
        host.set("url", Function::new(ctx.clone(), url_parts)?)?;
        host.set("decode", Function::new(ctx.clone(), decode)?)?;
        ctx.eval::<Function, _>(include_str!("js/globals.js"))?.call::<_, ()>((host.clone(),))?;
        let most = Object::new(ctx.clone())?;
        most.set("output", limits.output)?;
        most.set("metadata", limits.metadata)?;
        most.set("attachments", limits.attachments)?;
        let border: Object = ctx.eval::<Function, _>(include_str!("js/border.js"))?.call((host, most))?;
        let function = |name: &str| border.get::<_, Function>(name).map(|made| Persistent::save(ctx, made));
        Ok(Self {
            describe: function("describe")?,
            call: function("call")?,
            told: function("told")?,
            abort: function("abort")?,
        })
    }
}

fn log(lines: &RefCell<Vec<String>>, line: String, most: usize) {
    let mut lines = lines.borrow_mut();
    let kept: usize = lines.iter().map(|line| line.len() + 1).sum();
    if kept + line.len() < most {
        lines.push(prowess::contained::without_escapes(line));
    }
}

/// The parts of an address, as JSON; empty where it is none.
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

/// Bytes, given as a text of one character each, as UTF-8; what is not becomes U+FFFD.
fn decode(ctx: Ctx<'_>, bytes: String) -> rquickjs::Result<Object<'_>> {
    let bytes: Vec<u8> = bytes.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
    let text = String::from_utf8_lossy(&bytes);
    let decoded = Object::new(ctx)?;
    decoded.set("lossy", matches!(text, std::borrow::Cow::Owned(_)))?;
    decoded.set("text", text.into_owned())?;
    Ok(decoded)
}
