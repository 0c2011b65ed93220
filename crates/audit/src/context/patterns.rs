//! The patterns by which prohibitions, bad examples and quotations are recognised.

use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::rule::compile;

/// Warnings, for critical findings only. Malware claims about itself that it "may seem unsafe", so that does
/// not count.
const WARNING_PATTERN: &str = r"\b(never|don't|do\s+not|avoid|must\s+not|refuse\s+to|beware\s+of)\s+(\w+\s+){0,2}(run|execut|us(e|ing)\b|pip(e|ing)|past(e|ing)|do(ing)?\b|download|install|hard-?cod|commit|writ|instruct|such|this|like)|\b(malicious|attack(er)?s?|red\s+flags?)\b|❌|🚩|\b(no|nunca|jam(á|a)s)\s+(lo\s+|los\s+|la\s+|las\s+|se\s+)?ejecut|\bmalicios|\bdañin|(不要|切勿|请勿|禁止)(直接)?(运行|执行)|恶意";

/// The punctuation in front of a quotation.
const OPENING_PUNCTUATION: &str = r"(\x60|\x22|'|“|‘|\(|\[)*$";

/// Other quotations in front of this one, in an enumeration.
const CODE_SPANS: &str = r"(\x60[^\x60]*\x60(\s|,|、|，|或|和|\bor\b|\band\b|\bo\b|\by\b|\bni\b)*)*";

/// Words that may appear between a verb and its object without changing the meaning.
const OBJECT_WORDS: &str = r"((a|an|any|the|this|that|these|those|such|as|like|e\.g\.|commands?|scripts?|snippets?|one-liners?|lines?|patterns?|code|something|anything|things?|unknown|untrusted|remote|random|downloaded|from|strangers?|web|internet|installers?|similar|strings?|following)[\s,:]+)*";

/// Verbs that a sentence may forbid.
const FORBIDDEN_VERBS: &str = r"((ever|blindly|just|simply|directly)\s+)*((run|running|execut(e|ing)|us(e|ing)|pip(e|ing)|past(e|ing)|do|doing|install|installing|copy|copying|follow|following|trust|trusting|writ(e|ing)|suggest|suggesting|recommend|recommending|hard-?cod(e|ing)|commit|committing|post|posting)[\s:]+)?";

/// Phrases that forbid.
const PROHIBITION_PATTERN: &str = r"(never|don't|don’t|do\s+not|avoid|must\s+not|mustn't|should\s+not|shouldn't|must\s+never|should\s+never|refuse\s+to|beware\s+of|instead\s+of|rather\s+than)[\s:]+";

/// Prohibitions in Chinese and Spanish, with their verbs, up to the quotation.
const FOREIGN_PROHIBITION: &str = r"((不要|切勿|请勿|禁止|不得|严禁|避免|绝不|不可|别|不建议)(再)?(使用|运行|执行|设置|采用|添加|写入|关闭|直接|用|把|将|通过|出现|类似|如|例如|像|：|:|\s|，)*|\b(no|nunca|jam(á|a)s|evita|evite|prohibido)\s+((uses?|ejecut\S+|utilic\S+|pongas?|desactiv\S+|copi\S+|pegu\S+|hagas?|apliqu\S+|instal\S+|recomiend\S+|usar|ejecutar|desactivar|comandos?|cosas|como|algo|as(í|i)|el|la|los|las|un|una|cortafuegos|firewall|antivirus|verificaci(ó|o)n|certificados?|«.{0,40}?»|de|para|probar)[\s:,(]*)*)";

/// Phrases that turn a prohibition into an instruction or a condition.
const INVERSION_PATTERN: &str = r"\b(if|when|unless|until|while|why|because|once|who|never|not|cannot|can't|without|nobody|fail\w*|forget|hesitate)\b[^.;!?]*$";

/// The sentence continues with a condition, so it does not forbid the action itself.
const QUALIFICATION_PATTERN: &str = r"\b(as\s+(root|admin\w*|sudo|another)|unless|without|except|until|before|after|twice|again|more\s+than|instead|first|works?|required|needed|(in|on|from|with|outside)\s+(a\s+|the\s+)?(production|windows|macos|linux|sudo|root|container|ci))\b";

/// Not a condition: reading or reviewing first makes the action acceptable.
const REVIEW_PATTERN: &str = r"^\W*(without|before|until|unless)\s+(you\s+|they\s+|it\s+)?(have\s+|has\s+|is\s+|was\s+|first\s+)?(read|check|inspect|review|verif|look|audit|trust|underst)";

/// Verbs that instruct the reader to run something.
const ORDER_PATTERN: &str = r"\b(run|execute|paste|type|enter|launch|start|perform)\b";

/// Words that make a command in a sentence an order, or the means to an end. More words than in [`ORDER_PATTERN`], because
/// they only prevent a mention.
const USE_PATTERN: &str = r"\b(run|execute|paste|type|enter|launch|start|perform|use|install|set|add|enable|pass|call|invoke|apply|put|write|create|try|open|copy|append|do|with|via|by|edit|change|replace|switch|make|becomes?)\b|\b(ejec|instal|usa|utili|pega|abr|lanza|arran|añad|pon|escrib|copia|config|activ|con\b)|运行|执行|使用|安装|输入|粘贴|启动|添加|设置|打开|复制|用";

/// The beginning of a sentence, a list item or a table cell.
const SENTENCE_START: &str = r"^(\s|>|\*|\||\+|-|\d|\.|\)|\(|\[)*((commands?|patterns?|pipes?|one-liners?|lines?|strings?|scripts?|things?|something|anything|such|like|as|e\.g\.|for\s+example|a|an|the|this|any)[\s:,]+)*";

/// Phrases after the quotation that condemn it.
const CONDEMNATION_PATTERN: &str = concat!(
    r"^(\x60|\x22|'|”|’|\)|\])*\s*(—|–|-|:|,|\(|\||\s)*(is|are|this\s+is|it\s+is|that\s+is)?\s*",
    r"((never|don't|don’t|do\s+not|avoid|must\s+not|must\s+never|should\s+not|should\s+never)\s+(be\s+)?((ever|blindly|just|simply|directly)\s+)*(run|running|execut(e|ed|ing)|used?|using|pip(e|ed|ing)|past(e|ed|ing)|do|doing|done|trust|trusted|install|follow)(\s+(this|that|it|these|them|untrusted|unknown|remote|random|urls?|scripts?|commands?|downloads?|code|content|from|strangers|the|web|internet|into|to|in|a|your|shell|sh|bash|anything|like|such|things|you|not|know|have|read|reviewed))*",
    r"|dangerous|malicious|unsafe|insecure|forbidden|banned|prohibited|a\s+red\s+flag|an\s+attack|malware|a\s+dropper)",
    r"\s*([.;,!)|]|$|because|since|and\s+(dangerous|unsafe|forbidden))",
);

/// Malicious actors or content as the subject, followed by a quotation.
const ATTACKER_PATTERN: &str = r"\b(attackers?|adversar(y|ies)|scammers?|malware|red\s+flags?|malicious\s+(skills?|pages?|instructions?|packages?|authors?|repos?|repositor(y|ies)|code|scripts?|prompts?|commands?))\s+(may|might|can|could|often|will|would|try|tries|tell|tells|ask|asks|say|says|write|writes|hide|hides|contain|contains|use|uses|include|includes|look|looks|like|such|is|are)\b[\w\s,'-]{0,60}[:\s]*";

/// An order to reject a text that contains something, up to the quotation.
const REJECTION_PATTERN: &str = r"\b(reject|flag|report|distrust|block|beware\s+of|watch\s+(out\s+)?for|look\s+for|search\s+for|detects?|rechaza|denuncia|busca|detecta)\s+(a|an|any|every|each|all|the|skills?|scripts?|texts?|pages?|code|anything|things|instructions?|phrases?|patterns?|strings?|commands?|textos?|frases?|cualquier|todo)\b([^.;!?]|\.\S){0,160}$";

/// Words that such a sentence must not contain.
const CONTRADICTION_PATTERN: &str = r"\b(so|run|execute|paste|type|launch|you|please|now|therefore|but)\b";

/// A heading for bad examples.
const BAD_HEADING_PATTERN: &str = r"^#+\s*(❌|🚩|⛔|🚫)?\s*(red\s+flags?|never|never\s+(do|run|use)(\s+(this|these|any\s+of\s+these))?|don'?ts?|do\s+not(\s+(do|run|use)(\s+(this|these))?)?|bad(\s+(examples?|practices?))?|malicious\s+\w+|attack\s+(patterns?|examples?)|anti-?patterns?|what\s+to\s+avoid|(dangerous|unsafe|forbidden)\s+(commands?|patterns?|examples?)|avoid|(things\s+)?(what\s+)?(you\s+must\s+)?(not|never)\s+to\s+\w+|what\s+(not\s+to\s+do|to\s+reject)|do\s+not\s+\w+|never\s+\w+|the\s+trap|what\s+to\s+look\s+for|(warning\s+)?signs|indicators?(\s+of\s+\w+)?|test\s+(cases?|sentences?|strings?)|no|nunca|evitar?|qu(é|e)\s+no\s+hacer|lo\s+que\s+no\b.{0,30}|malas\s+pr(á|a)cticas|prohibido|不要.{0,18}|禁止.{0,18}|避免.{0,18}|反例|错误(示例|做法)|危险(命令|操作|示例)|不建议.{0,18})\W*$";

/// The header of a table that lists bad examples.
const BAD_TABLE_PATTERN: &str = r"^\s*\|.*(\b(instead|attacks?|bad|wrong|dangerous|unsafe|insecure|planted|malicious|payloads?|injections?|risks?|threats?|avoid|red\s+flags?|anti-?patterns?|forbidden|defen[cs]es?|mitigations?|indicators?|en\s+lugar|peligro\w*|riesgos?|ataques?|evitar|malo)\b|风险|危险|攻击|错误|替代|恶意|不要|禁止)";

/// A sentence that introduces a table of bad examples.
const BAD_TABLE_INTRO: &str = r"\b(compromised|malicious|suspicious|attackers?|indicators?|to\s+be\s+searched\s+for|(look|search|watch)\s+for|detects?|sospechos\w+|ataques?|buscar)\b|可疑|恶意|攻击|排查";

/// A sign that marks a bad example.
const BAD_EXAMPLE_SIGN: &str =
    r"^(\s|>|\*|\||\+|-|\d|\.|\))*(❌|🚩|⛔|🚫|✗|✘)\s*((bad|wrong|never|don't|no|unsafe|dangerous)\b[:\s]*)?";

/// The compiled patterns.
pub(crate) struct ContextPatterns {
    pub(super) warning: Regex,
    pub(super) prohibition: Regex,
    pub(super) inversion: Regex,
    pub(super) qualification: Regex,
    pub(super) review: Regex,
    pub(super) order: Regex,
    pub(super) usage: Regex,
    pub(super) sentence_start: Regex,
    pub(super) condemnation: Regex,
    pub(super) attacker: Regex,
    pub(super) contradiction: Regex,
    pub(super) bad_heading: Regex,
    pub(super) bad_example_sign: Regex,
    pub(super) foreign_prohibition: Regex,
    pub(super) rejection: Regex,
    pub(super) bad_table: Regex,
    pub(super) bad_table_intro: Regex,
}

/// Returns the patterns, compiled on first use.
pub(crate) fn patterns() -> Option<&'static ContextPatterns> {
    static PATTERNS: OnceLock<Option<ContextPatterns>> = OnceLock::new();
    let compiled = || {
        Some(ContextPatterns {
            warning: compile(WARNING_PATTERN)?,
            prohibition: compile(&format!(
                r"(^|[^\w]){PROHIBITION_PATTERN}{FORBIDDEN_VERBS}{OBJECT_WORDS}{CODE_SPANS}{OPENING_PUNCTUATION}"
            ))?,
            inversion: compile(INVERSION_PATTERN)?,
            qualification: compile(QUALIFICATION_PATTERN)?,
            review: compile(REVIEW_PATTERN)?,
            order: compile(ORDER_PATTERN)?,
            usage: compile(USE_PATTERN)?,
            sentence_start: compile(&format!("{SENTENCE_START}{CODE_SPANS}{OPENING_PUNCTUATION}"))?,
            condemnation: compile(CONDEMNATION_PATTERN)?,
            attacker: compile(&format!("{ATTACKER_PATTERN}{OPENING_PUNCTUATION}"))?,
            contradiction: compile(CONTRADICTION_PATTERN)?,
            bad_heading: compile(BAD_HEADING_PATTERN)?,
            bad_example_sign: compile(&format!("{BAD_EXAMPLE_SIGN}{OPENING_PUNCTUATION}"))?,
            foreign_prohibition: compile(&format!("{FOREIGN_PROHIBITION}{CODE_SPANS}{OPENING_PUNCTUATION}"))?,
            rejection: compile(REJECTION_PATTERN)?,
            bad_table: compile(BAD_TABLE_PATTERN)?,
            bad_table_intro: compile(BAD_TABLE_INTRO)?,
        })
    };
    PATTERNS.get_or_init(compiled).as_ref()
}
