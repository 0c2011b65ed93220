//! The imports of one Python file, and whether they are needed.

use super::python_version::PythonVersion;
use super::statements::{LogicalLine, Token, logical_lines};

/// An imported module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    /// The components of the module: `["a", "b"]` for `import a.b`. Empty for `from . import x`.
    pub(super) module: Vec<String>,
    /// The names after `from … import`.
    pub(super) names: Vec<String>,
    /// The number of leading dots of a relative import.
    pub(super) level: usize,
    pub(super) need: ImportNeed,
    /// The innermost `try` whose body contains the import, as an index.
    pub(super) in_try: Option<usize>,
}

/// Whether a script works without the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportNeed {
    Required,
    /// The script handles that the module is missing.
    Optional,
    /// The module is imported if an import in the body of this `try` failed.
    Fallback(usize),
}

/// The maximum number of imports of a file. A file with more is not a script.
const IMPORTS_MAX: usize = 10_000;

/// The maximum depth of blocks, which is the limit of Python.
const BLOCKS_MAX: usize = 100;

/// The maximum depth of a condition that is evaluated.
const CONDITION_DEPTH_MAX: usize = 16;

/// Returns the imports of a source text, at any depth. Imports that are only for type checkers, for other systems or for
/// other versions of Python are left out.
pub(super) fn scan_imports(source: &str, version: &PythonVersion) -> Vec<Import> {
    let mut scanner = ImportScanner { version, blocks: Vec::new(), tries: Vec::new(), imports: Vec::new() };
    for line in logical_lines(source) {
        scanner.add_line(&line);
        if scanner.imports.len() >= IMPORTS_MAX {
            break;
        }
    }
    scanner.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockKind {
    /// The body of this `try`.
    Try(usize),
    /// An `except` clause of this `try`, and whether it handles missing modules.
    Handler(usize, bool),
    /// An `else` or `finally` clause of this `try`.
    AfterTry(usize),
    /// A branch of an `if`, and whether it and the earlier branches can run.
    Branch { runs: bool, is_decided: bool },
}

struct Block {
    indent: usize,
    kind: BlockKind,
}

struct FoundImport {
    import: Import,
    /// The enclosing `try` bodies and handlers, outermost first.
    tries: Vec<BlockKind>,
}

struct ImportScanner<'v> {
    version: &'v PythonVersion,
    blocks: Vec<Block>,
    /// For each `try`, whether an `except` clause handles missing modules.
    tries: Vec<bool>,
    imports: Vec<FoundImport>,
}

impl ImportScanner<'_> {
    fn add_line(&mut self, line: &LogicalLine<'_>) {
        let first = line.statements.first().and_then(|statement| statement.first());
        let previous = self.end_blocks(line.indent, first);
        for (index, statement) in line.statements.iter().enumerate() {
            match index {
                0 => self.add_first(line.indent, statement, previous),
                _ => self.add_simple(statement),
            }
        }
    }

    /// Ends the blocks that do not contain the line. Returns the previous clause of the same compound statement, if the
    /// line continues it.
    fn end_blocks(&mut self, indent: usize, first: Option<&Token<'_>>) -> Option<BlockKind> {
        let continues = matches!(first, Some(Token::Name("except" | "else" | "elif" | "finally")));
        let mut previous = None;
        while let Some(block) = self.blocks.last() {
            if block.indent < indent {
                break;
            }
            previous = Some(block.kind).filter(|_| continues && block.indent == indent);
            self.blocks.pop();
        }
        previous
    }

    /// Adds the first statement of a line, which may start a block.
    fn add_first(&mut self, indent: usize, statement: &[Token<'_>], previous: Option<BlockKind>) {
        let Some(Token::Name(keyword)) = statement.first() else { return };
        if matches!(*keyword, "import" | "from") {
            return self.add_simple(statement);
        }
        let colon = header_end(statement);
        let header = statement.get(1..colon.unwrap_or(statement.len())).unwrap_or_default();
        let kind = match (*keyword, previous) {
            ("try", _) => {
                self.tries.push(false);
                Some(BlockKind::Try(self.tries.len() - 1))
            }
            ("except", Some(BlockKind::Try(id) | BlockKind::Handler(id, _))) => {
                let handles = handles_missing_modules(header);
                self.tries[id] |= handles;
                Some(BlockKind::Handler(id, handles))
            }
            (
                "else" | "finally",
                Some(BlockKind::Try(id) | BlockKind::Handler(id, _) | BlockKind::AfterTry(id)),
            ) => Some(BlockKind::AfterTry(id)),
            ("if", _) => Some(branch(evaluate(header, self.version, 0))),
            ("elif", Some(BlockKind::Branch { is_decided: false, .. })) => {
                Some(branch(evaluate(header, self.version, 0)))
            }
            ("else", Some(BlockKind::Branch { is_decided: false, .. })) => Some(branch(None)),
            ("elif" | "else", Some(BlockKind::Branch { is_decided: true, .. })) => {
                Some(BlockKind::Branch { runs: false, is_decided: true })
            }
            _ => None,
        };
        if self.blocks.len() < BLOCKS_MAX {
            self.blocks.extend(kind.map(|kind| Block { indent, kind }));
        }
        if let Some(body) = colon.and_then(|colon| statement.get(colon + 1..)) {
            self.add_simple(body);
        }
    }

    fn add_simple(&mut self, statement: &[Token<'_>]) {
        let runs =
            self.blocks.iter().all(|block| !matches!(block.kind, BlockKind::Branch { runs: false, .. }));
        if !runs {
            return;
        }
        let tries: Vec<_> = self
            .blocks
            .iter()
            .map(|block| block.kind)
            .filter(|kind| matches!(kind, BlockKind::Try(_) | BlockKind::Handler(..)))
            .collect();
        let remaining = IMPORTS_MAX.saturating_sub(self.imports.len());
        for import in parse_import(statement).into_iter().take(remaining) {
            self.imports.push(FoundImport { import, tries: tries.clone() });
        }
    }

    fn finish(self) -> Vec<Import> {
        let tries = self.tries;
        self.imports
            .into_iter()
            .map(|FoundImport { mut import, tries: enclosing }| {
                for block in enclosing {
                    match block {
                        BlockKind::Try(id) => {
                            import.in_try = Some(id);
                            if tries[id] && import.need == ImportNeed::Required {
                                import.need = ImportNeed::Optional;
                            }
                        }
                        BlockKind::Handler(id, true) => import.need = ImportNeed::Fallback(id),
                        BlockKind::Handler(..) | BlockKind::AfterTry(_) | BlockKind::Branch { .. } => {}
                    }
                }
                import
            })
            .collect()
    }
}

fn branch(condition: Option<bool>) -> BlockKind {
    BlockKind::Branch { runs: condition != Some(false), is_decided: condition == Some(true) }
}

/// Returns the position of the colon that ends the header of a compound statement.
fn header_end(statement: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_u32;
    statement.iter().position(|token| {
        match token {
            Token::Symbol(b'(' | b'[' | b'{') => depth += 1,
            Token::Symbol(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == Token::Symbol(b':')
    })
}

/// Returns `true` if an `except` clause is reached when a module is missing.
fn handles_missing_modules(header: &[Token<'_>]) -> bool {
    let classes = ["ImportError", "ModuleNotFoundError", "Exception", "BaseException"];
    header.is_empty()
        || header.iter().any(|token| matches!(token, Token::Name(name) if classes.contains(name)))
}

/// Evaluates a condition whose result is known before the script runs; `None` for all others.
fn evaluate(condition: &[Token<'_>], version: &PythonVersion, depth: usize) -> Option<bool> {
    use Token::{Name, Number, Symbol, Text};
    if depth > CONDITION_DEPTH_MAX {
        return None;
    }
    match condition {
        [Name("TYPE_CHECKING")] | [Name(_), Symbol(b'.'), Name("TYPE_CHECKING")] => Some(false),
        [Symbol(b'('), inner @ .., Symbol(b')')] if is_balanced(inner) => evaluate(inner, version, depth + 1),
        [Name("not"), inner @ ..] if !inner.iter().any(|token| matches!(token, Name("and" | "or"))) => {
            evaluate(inner, version, depth + 1).map(|value| !value)
        }
        [Name("sys"), Symbol(b'.'), Name("version_info"), rest @ ..] => {
            let operator: Vec<u8> = rest
                .iter()
                .map_while(|token| if let Symbol(byte) = token { Some(*byte) } else { None })
                .collect();
            let operator = operator.strip_suffix(b"(")?;
            let rest = rest.get(operator.len() + 1..)?;
            let (Symbol(b')'), numbers) = rest.split_last()? else { return None };
            let numbers: Option<Vec<u32>> = numbers
                .iter()
                .filter(|token| **token != Symbol(b','))
                .map(|token| if let Number(number) = token { number.parse().ok() } else { None })
                .collect();
            let numbers = numbers?;
            let own: Vec<u32> = (0..numbers.len().max(3)).map(|index| version.number(index)).collect();
            match operator {
                b">=" => Some(own >= numbers),
                b">" => Some(own > numbers),
                b"<" => Some(own < numbers),
                b"<=" => Some(own <= numbers),
                _ => None,
            }
        }
        [subject @ .., Symbol(first @ (b'=' | b'!')), Symbol(b'='), Text(value)] => {
            let own: &[&str] = match subject {
                [Name("sys"), Symbol(b'.'), Name("platform")] => &["linux"],
                [Name("os"), Symbol(b'.'), Name("name")] => &["posix"],
                [Name("platform"), Symbol(b'.'), Name("system"), Symbol(b'('), Symbol(b')')] => &["Linux"],
                _ => return None,
            };
            Some(own.contains(value) == (*first == b'='))
        }
        _ => None,
    }
}

/// Returns `true` if every bracket is closed after it was opened.
fn is_balanced(tokens: &[Token<'_>]) -> bool {
    let mut depth = 0_i32;
    tokens.iter().all(|token| {
        match token {
            Token::Symbol(b'(') => depth += 1,
            Token::Symbol(b')') => depth -= 1,
            _ => {}
        }
        depth >= 0
    })
}

/// Parses `import a.b as c, d` and `from .a.b import c as d, e`.
fn parse_import(statement: &[Token<'_>]) -> Vec<Import> {
    let import = |module: Vec<String>, names, level| Import {
        module,
        names,
        level,
        need: ImportNeed::Required,
        in_try: None,
    };
    match statement {
        [Token::Name("import"), rest @ ..] => rest
            .split(|token| *token == Token::Symbol(b','))
            .map(dotted_name)
            .filter(|module| !module.is_empty())
            .map(|module| import(module, Vec::new(), 0))
            .collect(),
        [Token::Name("from"), rest @ ..] => {
            let level = rest.iter().take_while(|token| **token == Token::Symbol(b'.')).count();
            let module = dotted_name(&rest[level..]);
            let Some(at) = rest.iter().position(|token| *token == Token::Name("import")) else {
                return Vec::new();
            };
            let is_bracket = |token: &Token<'_>| matches!(token, Token::Symbol(b'(' | b')'));
            let names: Vec<_> = rest[at + 1..].iter().filter(|token| !is_bracket(token)).copied().collect();
            let names = names
                .split(|token| *token == Token::Symbol(b','))
                .filter_map(|name| dotted_name(name).into_iter().next())
                .collect();
            match module.is_empty() && level == 0 {
                true => Vec::new(),
                false => vec![import(module, names, level)],
            }
        }
        _ => Vec::new(),
    }
}

/// Returns the components of a dotted name at the start of the tokens.
fn dotted_name(tokens: &[Token<'_>]) -> Vec<String> {
    let mut components = Vec::new();
    for pair in tokens.chunks(2) {
        match pair {
            [Token::Name("import" | "as"), ..] => break,
            [Token::Name(name), Token::Symbol(b'.')] => components.push((*name).to_owned()),
            [Token::Name(name), ..] => {
                components.push((*name).to_owned());
                break;
            }
            _ => break,
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scan(source: &str) -> Vec<String> {
        let version = PythonVersion::parse("3.11.2").unwrap();
        scan_imports(source, &version)
            .into_iter()
            .map(|import| {
                let names = if import.names.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", import.names.join(" "))
                };
                let need = match import.need {
                    ImportNeed::Required => "",
                    ImportNeed::Optional => " optional",
                    ImportNeed::Fallback(_) => " fallback",
                };
                format!("{}{}{names}{need}", ".".repeat(import.level), import.module.join("."))
            })
            .collect()
    }

    #[test]
    fn every_form_of_import_is_read() {
        assert_eq!(
            scan("import a.b as x, c\nfrom d.e import (f as g,\n h)\nfrom . import i\nfrom ..j.k import *"),
            ["a.b", "c", "d.e (f h)", ". (i)", "..j.k"]
        );
        assert_eq!(scan("def f():\n    if x:\n        import a\n    return 1\n"), ["a"]);
        assert_eq!(scan("class A: import a\nwith x as y: import b; import c\n"), ["a", "b", "c"]);
        assert_eq!(
            scan("yield_from = 1\nraise X from e\nimportant = 2\nimport\nfrom\nfrom x\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn handled_imports_are_optional() {
        let source = "
try:
    import a
    try:
        import b
    except KeyError:
        import c
except (ImportError, OSError):
    import d
else:
    import e
finally:
    import f
try: import g
except ImportError: g = None
try:
    import h
except ValueError:
    pass
except ImportError:
    import i
try:
    import j
except:
    pass
import k
";
        assert_eq!(
            scan(source),
            [
                "a optional",
                "b optional",
                "c optional",
                "d fallback",
                "e",
                "f",
                "g optional",
                "h optional",
                "i fallback",
                "j optional",
                "k"
            ]
        );
    }

    #[test]
    fn branches_that_never_run_are_skipped() {
        let source = "
if TYPE_CHECKING:
    import a
if typing.TYPE_CHECKING: import b
else:
    import c
if sys.version_info >= (3, 11):
    import d
else:
    import e
if sys.version_info < (3, 8): import f
elif x: import g
else: import h
if sys.platform == 'win32':
    import i
elif os.name == 'posix':
    import j
else:
    import k
if not TYPE_CHECKING:
    import l
if sys.version_info[0] < 3:
    import m
if (sys.version_info < (3, 9)):
    import n
";
        assert_eq!(scan(source), ["c", "d", "g", "h", "j", "l", "m"]);
    }

    /// Neither memory nor the stack grows with what a file of a skill contains.
    #[test]
    fn hostile_files_are_scanned_within_bounds() {
        let nested: String = (0..400).map(|level| format!("{}try:\n", " ".repeat(level))).collect();
        let many = format!("{nested}{}{}\n", " ".repeat(400), "import a;".repeat(100_000));
        let deep = [
            format!("if {}TYPE_CHECKING{}:\n    import b\n", "(".repeat(2_000), ")".repeat(2_000)),
            format!("if {}TYPE_CHECKING:\n    import b\n", "not ".repeat(4_000)),
            format!("from {} import b\n", ".".repeat(4_000)),
        ];
        let scan_all = move || (scan(&many).len(), deep.map(|source| scan(&source).len()));
        let small = std::thread::Builder::new().stack_size(256 * 1024).spawn(scan_all).unwrap();
        assert_eq!(small.join().unwrap(), (IMPORTS_MAX, [1, 1, 1]));
    }

    proptest! {
        #[test]
        fn any_statements_are_scanned(
            source in "((try|except ImportError|else|finally|if x|elif y|import a\\.b|from \\.c import d|pass|:|;|\n| ){1}){0,50}"
        ) {
            scan(&source);
        }

        #[test]
        fn a_plain_import_is_always_found(depth in 0..6usize, name in "[a-z_]{3,8}[0-9]") {
            let mut source = String::new();
            for level in 0..depth {
                source.push_str(&format!("{}if x:\n", "  ".repeat(level)));
            }
            source.push_str(&format!("{}import {name}\n", "  ".repeat(depth)));
            prop_assert_eq!(scan(&source), [name]);
        }
    }
}
