//! Strips types from TypeScript, without checking them, and keeps a source map.

use std::path::Path;

use oxc_allocator::Allocator;
use oxc_codegen::{Codegen, CodegenOptions, CodegenReturn, CommentOptions};
use oxc_parser::Parser;
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;
use oxc_transformer::{TransformOptions, Transformer};

/// The maximum nesting of brackets. The parser is recursive.
const NESTING_MAX: usize = 400;

/// The stack size for parsing, per byte of source and at least. Only the used part costs memory.
const STACK_PER_BYTE: usize = 3 * 1024;
const STACK_MIN: usize = 8 * 1024 * 1024;
const STACK_MAX: usize = 1024 * 1024 * 1024;

/// JavaScript with its source map.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StrippedModule {
    /// The JavaScript.
    pub(super) code: String,
    pub(super) source_map: SourceMap,
}

/// Maps positions in the JavaScript to positions in the source; lines and columns start at 0.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SourceMap(Vec<[u32; 4]>);

impl SourceMap {
    /// Returns the position in the source of a position in the JavaScript. Both start at 1.
    pub(super) fn lookup(&self, line: u32, column: u32) -> Option<(u32, u32)> {
        let (line, column) = (line.checked_sub(1)?, column.saturating_sub(1));
        let next = self.0.partition_point(|[mapped_line, mapped_column, ..]| {
            (*mapped_line, *mapped_column) <= (line, column)
        });
        let token = self.0.get(next.checked_sub(1)?).filter(|token| token[0] == line);
        let [_, _, line, column] = token.or_else(|| self.0.get(next).filter(|token| token[0] == line))?;
        Some((line + 1, column + 1))
    }
}

/// An error in a source, and its byte offset.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModuleSyntaxError {
    /// The message, in one line.
    pub(super) message: String,
    /// The byte offset.
    pub(super) offset: Option<usize>,
}

/// Strips the types from a module.
pub(super) fn strip(name: &str, source: &str) -> Result<StrippedModule, ModuleSyntaxError> {
    on_large_stack(source, || strip_on_this_thread(name, source))
}

/// The imports and exports of a JavaScript module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ModuleInterface {
    /// The imported modules, in order.
    pub(super) imports: Vec<String>,
    /// The exported names.
    pub(super) exports: Vec<String>,
    /// Whether it re-exports everything from another module.
    pub(super) reexports_all: bool,
}

/// Parses the imports and exports of a JavaScript module.
pub(super) fn module_interface(source: &str) -> Result<ModuleInterface, ModuleSyntaxError> {
    on_large_stack(source, || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
        first_error(parsed.diagnostics.iter().map(|diagnostic| {
            (&*diagnostic.message, diagnostic.labels.first().map(|label| label.offset()))
        }))?;
        let record = &parsed.module_record;
        let mut imports: Vec<_> = record
            .requested_modules
            .iter()
            .filter_map(|(name, requests)| Some((requests.first()?.span.start, name.to_string())))
            .collect();
        imports.sort_unstable();
        let mut exports: Vec<_> = record.exported_bindings.keys().map(ToString::to_string).collect();
        if record.local_export_entries.iter().any(|entry| entry.export_name.is_default()) {
            exports.push("default".to_owned());
        }
        exports.sort_unstable();
        Ok(ModuleInterface {
            imports: imports.into_iter().map(|(_, name)| name).collect(),
            exports,
            reexports_all: !record.star_export_entries.is_empty(),
        })
    })
}

/// Runs the parser on a thread with a large stack.
fn on_large_stack<T: Send>(
    source: &str,
    parse: impl FnOnce() -> Result<T, ModuleSyntaxError> + Send,
) -> Result<T, ModuleSyntaxError> {
    if let Some(offset) = too_deep_at(source) {
        let message = format!("brackets are nested more than {NESTING_MAX} levels deep");
        return Err(ModuleSyntaxError { message, offset: Some(offset) });
    }
    let stack = source.len().saturating_mul(STACK_PER_BYTE).clamp(STACK_MIN, STACK_MAX);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack);
        let parsing = thread.spawn_scoped(scope, parse);
        let failed = |message: String| ModuleSyntaxError { message, offset: None };
        match parsing.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(failed("the TypeScript parser failed on this module".to_owned())),
            Err(error) => Err(failed(format!("cannot start a parser thread: {error}"))),
        }
    })
}

fn strip_on_this_thread(name: &str, source: &str) -> Result<StrippedModule, ModuleSyntaxError> {
    let allocator = Allocator::default();
    let kind = SourceType::ts().with_module(true);
    let parsed = Parser::new(&allocator, source, kind).parse();
    first_error(
        parsed
            .diagnostics
            .iter()
            .map(|diagnostic| (&*diagnostic.message, diagnostic.labels.first().map(|label| label.offset()))),
    )?;
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    first_error(
        semantic
            .diagnostics
            .iter()
            .map(|diagnostic| (&*diagnostic.message, diagnostic.labels.first().map(|label| label.offset()))),
    )?;
    let scoping = semantic.semantic.into_scoping();
    let path = Path::new(name);
    let transformed = Transformer::new(&allocator, path, &TransformOptions::default())
        .build_with_scoping(scoping, &mut program);
    first_error(
        transformed
            .diagnostics
            .iter()
            .map(|diagnostic| (&*diagnostic.message, diagnostic.labels.first().map(|label| label.offset()))),
    )?;
    let options = CodegenOptions {
        source_map_path: Some(path.to_owned()),
        comments: CommentOptions::disabled(),
        // The indentation of deeply nested code would be far longer than the source.
        minify: true,
        ..CodegenOptions::default()
    };
    let CodegenReturn { code, map, .. } = Codegen::new().with_options(options).build(&program);
    let mut tokens: Vec<_> = map
        .iter()
        .flat_map(|map| map.get_tokens())
        .map(|token| [token.get_dst_line(), token.get_dst_col(), token.get_src_line(), token.get_src_col()])
        .collect();
    tokens.sort_unstable();
    Ok(StrippedModule { code, source_map: SourceMap(tokens) })
}

fn first_error<'a>(
    diagnostics: impl Iterator<Item = (&'a str, Option<u32>)>,
) -> Result<(), ModuleSyntaxError> {
    match { diagnostics }.next() {
        Some((message, offset)) => {
            let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
            Err(ModuleSyntaxError { message, offset: offset.map(|offset| offset as usize) })
        }
        None => Ok(()),
    }
}

/// Returns where brackets, including those in strings and comments, are first nested too deeply.
fn too_deep_at(source: &str) -> Option<usize> {
    let mut depth = 0usize;
    source.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > NESTING_MAX
    })
}
