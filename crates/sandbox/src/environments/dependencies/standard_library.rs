//! The top-level modules of the Python standard library, 3.8 to 3.14.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::python_version::PythonVersion;

/// Modules of every version.
const ALWAYS: &str = "\
    abc antigravity argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 cProfile calendar cmath cmd \
    code codecs codeop collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg csv \
    ctypes curses dataclasses datetime dbm decimal difflib dis doctest email encodings ensurepip enum errno faulthandler \
    fcntl filecmp fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob grp gzip hashlib \
    heapq hmac html http idlelib imaplib importlib inspect io ipaddress itertools json keyword linecache locale logging \
    lzma mailbox marshal math mimetypes mmap modulefinder msvcrt multiprocessing netrc nt ntpath nturl2path numbers opcode \
    operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib poplib posix posixpath pprint profile \
    pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter \
    runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize smtplib socket socketserver sqlite3 \
    sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess symtable sys sysconfig \
    syslog tabnanny tarfile tempfile termios test textwrap this threading time timeit tkinter token tokenize trace \
    traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib usercustomize uuid venv warnings \
    wave weakref webbrowser winreg winsound wsgiref xml xmlrpc xxlimited zipapp zipfile zipimport zlib";

/// Modules with the minor version of Python 3 that added them, and the one that removed them.
const RANGES: &[(&str, u32, u32)] = &[
    ("aifc", 0, 13),
    ("annotationlib", 14, u32::MAX),
    ("asynchat", 0, 12),
    ("asyncore", 0, 12),
    ("audioop", 0, 13),
    ("binhex", 0, 11),
    ("cgi", 0, 13),
    ("cgitb", 0, 13),
    ("chunk", 0, 13),
    ("compression", 14, u32::MAX),
    ("crypt", 0, 13),
    ("distutils", 0, 12),
    ("dummy_threading", 0, 9),
    ("formatter", 0, 10),
    ("graphlib", 9, u32::MAX),
    ("imghdr", 0, 13),
    ("imp", 0, 12),
    ("lib2to3", 0, 13),
    ("mailcap", 0, 13),
    ("msilib", 0, 13),
    ("nis", 0, 13),
    ("nntplib", 0, 13),
    ("ossaudiodev", 0, 13),
    ("parser", 0, 10),
    ("pipes", 0, 13),
    ("smtpd", 0, 12),
    ("sndhdr", 0, 13),
    ("spwd", 0, 13),
    ("sunau", 0, 13),
    ("symbol", 0, 10),
    ("telnetlib", 0, 13),
    ("tomllib", 11, u32::MAX),
    ("uu", 0, 13),
    ("xdrlib", 0, 13),
    ("zoneinfo", 9, u32::MAX),
];

/// Returns `true` if the module belongs to the standard library of this version. Names with a leading underscore are
/// internal modules, which no package provides by itself.
pub(super) fn is_standard(module: &str, version: &PythonVersion) -> bool {
    static MODULES: OnceLock<HashMap<&'static str, (u32, u32)>> = OnceLock::new();
    let modules = MODULES.get_or_init(|| {
        let always = ALWAYS.split_ascii_whitespace().map(|module| (module, (0, u32::MAX)));
        always.chain(RANGES.iter().map(|(module, added, removed)| (*module, (*added, *removed)))).collect()
    });
    module.starts_with('_')
        || modules.get(module).is_some_and(|(added, removed)| (*added..*removed).contains(&version.minor()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_decides() {
        let standard = |module, version| is_standard(module, &PythonVersion::parse(version).unwrap());
        for module in ["os", "json", "xml", "__future__", "_thread", "tkinter", "test"] {
            assert!(standard(module, "3.8.0") && standard(module, "3.14.1"), "{module}");
        }
        for module in ["yaml", "numpy", "setuptools", "pip", ""] {
            assert!(!standard(module, "3.11.0"), "{module}");
        }
        assert!(standard("distutils", "3.11.9") && !standard("distutils", "3.12.0"));
        assert!(!standard("tomllib", "3.10.0") && standard("tomllib", "3.11.0"));
        assert!(!standard("compression", "3.13.0") && standard("compression", "3.14.0"));
    }
}
