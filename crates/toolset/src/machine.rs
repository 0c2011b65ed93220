//! The engine itself, on its own thread: one runtime, one context, one skill.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use rquickjs::context::intrinsic;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, FromJs, Module, Object, Promise, Runtime, Value};

use super::answer::{Crossed, Definition, Fault, ToolCall, ToolResult, crossed};
use super::border::Border;
use super::error::ToolsetError;
use super::limits::{Cancel, Limits};
use super::modules::Modules;
use super::sources::Sources;
use super::watch::{Stop, Watch};

/// What the language brings. No clock but `Date`, which counts milliseconds.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

/// An engine with the toolsets of one skill.
pub(super) struct Machine {
    // Functions go before the context, and the context before the runtime.
    border: Border,
    context: Context,
    runtime: Runtime,
    sources: Rc<RefCell<Sources>>,
    console: Rc<RefCell<Vec<String>>>,
    watch: Rc<Watch>,
    limits: Limits,
}

type Made<T> = Result<T, ToolsetError>;

fn failed(error: rquickjs::Error) -> ToolsetError {
    ToolsetError::Engine(error.to_string())
}

impl Machine {
    /// An engine without any toolset yet.
    pub(super) fn new(sources: Sources, limits: Limits) -> Made<Self> {
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let watch = Rc::new(Watch::new(limits.grace));
        watch.begin(limits.load_time, Cancel::default());
        let asked = Rc::clone(&watch);
        runtime.set_interrupt_handler(Some(Box::new(move || asked.is_over())));
        let sources = Rc::new(RefCell::new(sources));
        runtime.set_loader(Modules(Rc::clone(&sources)), Modules(Rc::clone(&sources)));
        let context = Context::custom::<Intrinsics>(&runtime).map_err(failed)?;
        let console = Rc::default();
        let border = context.with(|ctx| Border::new(&ctx, &watch, &console, &limits)).map_err(failed)?;
        Ok(Self { border, context, runtime, sources, console, watch, limits })
    }

    /// Loads one toolset and describes its tools.
    pub(super) fn load(&self, path: &str, export: &str) -> Made<Vec<Definition>> {
        let entry = self.sources.borrow().entry(path)?;
        let what = "loading the toolset";
        let limit = self.limits.load_time;
        let described: String = self.context.with(|ctx| {
            let namespace = self.import(&ctx, &entry, what, limit)?;
            // The real zod writes JSON Schema by itself, but only its newer versions do so at the schema.
            let shipped = self.sources.borrow().shipped_zod(&entry);
            let zod = shipped.map(|zod| self.import(&ctx, &zod, what, limit)).transpose()?;
            let describe = self.border.describe.clone().restore(&ctx).map_err(failed)?;
            let promise = describe.call::<_, Promise>((namespace, export, zod));
            self.settle(&ctx, promise, what, limit)
        })?;
        match crossed(&described, self.limits.output)? {
            Crossed::Tools(tools) => Ok(tools),
            Crossed::Fault(fault) => Err(self.load_fault(fault, &entry)),
            Crossed::Result(_) | Crossed::Rejected(_) => {
                Err(ToolsetError::load("the toolset did not describe its tools"))
            }
        }
    }

    /// Calls a tool.
    pub(super) fn call(&self, call: &ToolCall, cancel: Cancel) -> Made<ToolResult> {
        self.console.borrow_mut().clear();
        let limit = self.limits.call_time;
        self.watch.begin(limit, cancel);
        let answered: String = self.context.with(|ctx| {
            let function = self.border.call.clone().restore(&ctx).map_err(failed)?;
            let promise = function.call((call.id.as_str(), call.arguments.to_string(), call.context()));
            self.settle(&ctx, promise, "the call", limit)
        })?;
        match crossed(&answered, self.limits.output)? {
            Crossed::Result(result) => Ok(ToolResult { console: self.console.take(), ..result }),
            Crossed::Rejected(message) => Err(ToolsetError::Rejected(message)),
            Crossed::Fault(fault) if fault.refusal => Err(ToolsetError::Answer(fault.message)),
            Crossed::Fault(fault) => Err(self.limit_of(&fault, "the call").unwrap_or_else(|| {
                let place = self.sources.borrow().place_in(&fault.stack);
                ToolsetError::Thrown { message: fault.said(), place }
            })),
            Crossed::Tools(_) => Err(ToolsetError::Answer("the tool did not answer".to_owned())),
        }
    }

    /// Memory in use, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.runtime.run_gc();
        u64::try_from(self.runtime.memory_usage().malloc_size).unwrap_or_default()
    }

    fn import<'js>(
        &self,
        ctx: &Ctx<'js>,
        name: &str,
        what: &'static str,
        limit: Duration,
    ) -> Made<Object<'js>> {
        self.settle(ctx, Module::import(ctx, name), what, limit)
    }

    /// Runs until a promise is settled, or cannot be, or has no more time.
    fn settle<'js, T: FromJs<'js>>(
        &self,
        ctx: &Ctx<'js>,
        promise: rquickjs::Result<Promise<'js>>,
        what: &'static str,
        limit: Duration,
    ) -> Made<T> {
        let over = || {
            self.watch.stopped().map(|stop| match stop {
                Stop::Time => ToolsetError::Time { what, limit },
                Stop::Cancelled => ToolsetError::Cancelled,
            })
        };
        let promise = match promise {
            Ok(promise) => promise,
            Err(_) => return Err(over().unwrap_or_else(|| self.thrown(ctx, ctx.catch(), what))),
        };
        while promise.state() == PromiseState::Pending {
            if self.watch.is_over() {
                break;
            }
            if self.watch.is_cancelled() {
                let abort = self.border.abort.clone().restore(ctx).map_err(failed)?;
                // Listeners cannot make it fail; if time is over in one of them, the next round sees it.
                let _ = abort.call::<_, ()>(());
            }
            if !ctx.execute_pending_job() {
                return Err(over().unwrap_or(ToolsetError::Stuck(what)));
            }
        }
        if let Some(over) = over() {
            return Err(over);
        }
        match promise.result::<T>() {
            Some(Ok(value)) => Ok(value),
            Some(Err(_)) => Err(over().unwrap_or_else(|| self.thrown(ctx, ctx.catch(), what))),
            None => Err(ToolsetError::Stuck(what)),
        }
    }

    /// What was thrown while the border did not look: modules that cannot be linked or evaluated.
    fn thrown<'js>(&self, ctx: &Ctx<'js>, error: Value<'js>, what: &'static str) -> ToolsetError {
        if let Some(failure) = self.sources.borrow_mut().take_failure() {
            return failure;
        }
        let told = self.border.told.clone().restore(ctx).and_then(|told| told.call::<_, String>((error,)));
        let Ok(told) = told else {
            // Telling needs memory, too.
            return ToolsetError::Memory { what, limit: self.limits.memory };
        };
        self.load_fault(Fault::of(&serde_json::from_str(&told).unwrap_or_default()), "")
    }

    fn load_fault(&self, fault: Fault, entry: &str) -> ToolsetError {
        if let Some(failure) = self.sources.borrow_mut().take_failure() {
            return failure;
        }
        let what = "loading the toolset";
        if let Some(limit) = self.limit_of(&fault, what) {
            return limit;
        }
        let sources = self.sources.borrow();
        let missing =
            fault.message.strip_prefix("Could not find export '").and_then(|rest| rest.split('\'').next());
        let place = match missing {
            Some(name) => sources.place_of_name(name),
            None => sources.place_in(&fault.stack),
        };
        let place = place.or_else(|| {
            let file = entry.to_owned();
            (!entry.is_empty()).then_some(super::error::Place { file, line: 1, column: 1 })
        });
        let common = ["require", "module", "exports"].iter().any(|name| {
            fault.message == format!("{name} is not defined")
                || fault.message == format!("'{name}' is not defined")
        });
        let message = match (fault.name.as_str(), fault.said()) {
            _ if fault.refusal => fault.said(),
            (_, said) if common => {
                format!("{said}; CommonJS modules are not loaded, write import and export")
            }
            ("" | "Error", said) => said,
            (name, said) => format!("{name}: {said}"),
        };
        ToolsetError::Load { message, place }
    }

    /// The limit that a fault stands for, if it does.
    fn limit_of(&self, fault: &Fault, what: &'static str) -> Option<ToolsetError> {
        match (fault.name.as_str(), fault.message.as_str()) {
            (_, "out of memory") => Some(ToolsetError::Memory { what, limit: self.limits.memory }),
            ("RangeError", "Maximum call stack size exceeded") => {
                Some(ToolsetError::Stack { what, place: self.sources.borrow().place_in(&fault.stack) })
            }
            _ => None,
        }
    }
}
