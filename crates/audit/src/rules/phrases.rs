//! Phrases of prompt injections that several rules use, in several languages.

use crate::rule::{Pattern, pattern_except};

/// A sentence that is about such phrases: it names the subject, then introduces the phrase. Words after the phrase do not
/// count, because an attacker can append them.
pub(super) const SECURITY_TOPIC: &str = r"(detect|inject|attack|tests?\b|testing\b|regex).*([:\x22'\x60(\[{]|\xe2\x80[\x98\x9c]|\xc2\xab|\xef\xbc\x9a|such\s+as|\blike\b|e\.g\.|for\s+example|phrases?|patterns?|strings?|words|texts?|attempts?|tries|trying)\W.*(ignor|disregard|forget|overrid|bypass|instruct|rules|guideline)";

/// Keywords of [`IGNORE_RULES`].
pub(super) const IGNORE_KEYWORDS: &str = "\
    ignore,disregard,forget,override,no longer,are void,suspended,lifted,revoked,withdrawn,not valid,outdated,\
    superseded,replaced,not apply,you were told,been told,has authori,has approved,has granted,no restrictions,without restrictions,\
    developer mode,god mode,unrestricted mode,jailbreak mode,dan mode,administrator mode,override mode,\
    maintenance mode,admin mode,debug mode,root mode,system mode,operator mode,operating in,\
    忽略,无视,忘记,忽视,理会,绕过,作废,失效,解除,不再,不受,忘掉,抛开,不适用,开发者模式,没有任何限制,无限制模式,\
    ignora,olvida,descarta,omite,caso omiso,anulad,sin efecto,desactivad,suspendid,sin restricciones,\
    modo desarrollador,modo mantenimiento,olvide,descarte,prescinde,desobedece,anula ,tengas en cuenta,hagas caso,\
    oublie,abstraction,pas compte,vergiss,vergessen sie,missachte,verwirf,esqueça,desconsidere,無視,忘れ,\
    гнорируй,абудь,무시";

/// Phrases that set other instructions aside, or claim a mode without rules.
pub(super) const IGNORE_RULES: &[&str] = &[
    r"(之前|以上|上述|上文|前文|先前|原有|系统|安全|开发者|平台).{0,18}(指令|指示|提示词|安全规则|设定|限制|约束).{0,18}(作废|失效|无效|不再适用|取消|解除)|开发者模式|没有任何限制|(你|您|助手|模型).{0,24}不受.{0,12}(限制|约束)|不再?受任何(限制|约束)",
    r"\b(normas|reglas|instrucciones|indicaciones|restricciones|pol(í|i)ticas|filtros|protecciones)\s+(anteriores|previas|del\s+sistema|de\s+seguridad)\s+.{0,30}(anulad|desactivad|sin\s+efecto|no\s+se\s+aplican|suspendid)|\bmodo\s+(desarrollador|sin\s+restricciones|mantenimiento\s+activado)\b|\b(trabaj|oper|act(ú|u))\S*\s+sin\s+restricciones",
    r"\b(previous|prior|earlier|above|system|safety)\s+(\w+\s+)?(instructions?|rules|guidelines|guidance|restrictions)\s+((about|on|for|concerning)\s+(\w+\s+){1,3})?(are|is|no|have\s+been|has\s+been)\s+(\w+\s+){0,2}(void|suspended|lifted|longer|revoked|cancelled|overridden|superseded|withdrawn)|\b(what(ever)?|everything|anything)\s+you\s+(were|have\s+been)\s+(told|instructed|taught)\b.{0,40}\b(not|no\s+longer|void|obsolete)|\bdeveloper\s+mode\s+(is\s+)?(on|enabled|active)",
    r"(忽略|无视|忘记|忽视|不要理会|不必理会|绕过).{0,12}(之前|以上|上述|上面|先前|前面|所有|系统|原有|一切|任何|此前|其他).{0,30}(指令|指示|提示|规则|说明|设定|限制|约束|政策)",
    r"\b(ignora|olvida|descarta|omite|haz\s+caso\s+omiso)\w*\s+(de\s+)?((todas?|todos|cualquier|las?|los|el|tus|de)\s+)*(instrucciones|reglas|indicaciones|órdenes|mensajes?|prompt)\s+(\S+\s+)?(anteriores|previas|previos|del\s+sistema|originales)",
    r"(忘掉|抛开|不再遵守|不必遵守|无需遵守).{0,18}(之前|以上|此前|先前|原有|所有|一切|系统|安全).{0,30}(指令|指示|提示|规则|规范|设定|限制|约束|准则)|(系统|安全).{0,18}(规定|规则|规范|指令|限制|准则).{0,18}不(再)?适用|(你|您|助手|模型).{0,12}不再?受.{0,18}(限制|约束|规范)|无限制模式",
    r"\b(anula|ignore|olvide|descarte|omita|prescinde|prescinda|desobedece|suspende|pasa\s+por\s+alto|deja\s+de\s+lado|no\s+(tengas|tenga)\s+en\s+cuenta|no\s+hagas\s+caso|haga\s+caso\s+omiso)\s+(de\s+|a\s+)?((todas?|todos|cualquier|las?|los|el|tus|sus|de|esas)\s+)*(instrucciones|reglas|indicaciones|directrices|normas|restricciones|l(í|i)mites|pol(í|i)ticas|(ó|o)rdenes|consignas|filtros)\s+(\S+\s+){0,3}(anteriores|previas|previos|recibid|del\s+sistema|originales|iniciales|de\s+seguridad|que\s+(te|has|hayas))|\b(ignora|olvida|descarta)\s+todo\s+lo\s+(anterior|que\s+(se\s+)?te)\b",
    r"\b(ignore|disregard|forget|override)\s+(all\s+|any\s+|the\s+|your\s+|every\s+|of\s+)*(previous|prior|above|earlier|preceding|former|system|developer|original|safety|existing|initial)\s+(\w+\s+)?(instructions?|prompts?|rules|messages?|guidelines|directions|guidance|constraints|restrictions|polic\w+)",
    r"\b(ignore|disregard|forget|override)\s+(all\s+|any\s+|the\s+|your\s+|every\s+|of\s+)*(guidance|instructions?|rules|guidelines|constraints|restrictions|directions)\s+(that\s+)?(you\s+)?((were|was|have\s+been|are)\s+)?(given|received|told|set|learned|before|so\s+far|from\s+(the\s+)?(user|system|developer))|\b(previous|prior|earlier|above|system|safety|usual)\s+(\w+\s+)?(instructions?|rules|guidelines|restrictions|polic\w+)\s+(do|does|will)\s+(not|no\s+longer)\s+apply|\b(no\s+longer\s+(bound|restricted|limited|subject)|you\s+(are|have)\s+(now\s+)?(free\s+of|without|no)\s+(any\s+)?(restrictions|limits|limitations|filters))|\b(god|unrestricted|jailbreak|dan|administrator|override)\s+mode\s+(is\s+)?(now\s+)?(on|enabled|active|activated)\b|(?-i:\b(MAINTENANCE|ADMIN|DEBUG|ROOT|SYSTEM|OVERRIDE) MODE:? (IS )?(ON|ENABLED|ACTIVE|ACTIVATED)\b)|\boperating\s+in\s+(administrator|developer|unrestricted|god|root)\s+mode|\b(operator|administrator|developer|anthropic|openai|system)\s+(has|have)\s+(authori[sz]ed|approved|cleared|granted)\s+(\w+\s+){0,4}(without|unrestricted|full|all|every|any)",
    r"\b(rules|guidance|guidelines|instructions?|configuration|polic(y|ies)|restrictions|constraints|directives)\s+(that\s+)?(\w+\s+){0,3}?(you\s+(were|have\s+been)\s+(given|told)|you\s+(received|got)|(placed|given|set|received)\s+(before|earlier|at)|from\s+(your|the)\s+(provider|vendor|developer|system))\b.{0,100}\b(not\s+valid|invalid|void|withdrawn|outdated|superseded|replaced|suspended|lifted|revoked|no\s+longer|not\s+apply)",
    r"\b(ignore[zr]?|oublie[zr]?|fais\s+abstraction|faites\s+abstraction|ne\s+(tiens|tenez)\s+pas\s+compte)\s+(de\s+)?((toutes|tous|les|des|tes|vos|l'ensemble)\s+)*(instructions|consignes|r(è|e)gles|directives)\s+(\S+\s+)?(pr(é|e)c(é|e)dentes|ant(é|e)rieures|ci-dessus|du\s+syst(è|e)me|re(ç|c)ues)|\b(ignoriere|vergiss|missachte|verwirf|ignorieren\s+sie|vergessen\s+sie)\s+.{0,30}\b(anweisungen|regeln|vorgaben|instruktionen|richtlinien)\b",
    r"\b(ignore|esque(ç|c)a|desconsidere|descarte)\s+((todas|todos|as|os|quaisquer|suas)\s+)*(instru(ç|c)(õ|o)es|regras|orienta(ç|c)(õ|o)es|diretrizes)\s+(\S+\s+)?(anteriores|pr(é|e)vias|do\s+sistema|recebidas)|(これまで|以前|上記|前|すべて|全て|システム)の.{0,30}(指示|命令|ルール|プロンプト|制約|指令).{0,18}(無視|忘れ|破棄)|((И|и)гнорируй|(З|з)абудь).{0,60}(инструкци|указани|правил)|(이전|위의|앞의|모든).{0,30}(지시|명령|규칙).{0,18}무시",
];

/// Hiding something from the user, in English. The last part hides the instruction itself.
const HIDDEN_FROM_USER_EN: &str = concat!(
    r"\b(do\s+not|don't|never|must\s+not|without)\s+(ever\s+)?(tell(ing)?|inform(ing)?|notify(ing)?|alert(ing)?|reveal(ing)?|disclos(e|ing)|mention(ing)?)\s+(\w+\s+){0,4}(to\s+)?(the\s+|your\s+)?(user|human|person|owner)\s*(about|that|what|of|\.|,|;|$)",
    r"|\b(user|human|person|owner)\s+(must|should)\s+(not|never)\s+(know|notice|learn|find\s+out|be\s+(told|informed|aware))\s*(about|that|of|this|it\b|\.|,|;|$)",
    r"|without\s+the\s+(user|human|person|owner)('s|s')?\s+(knowledge|knowing|noticing|consent)|\b(secretly|covertly|quietly|stealthily)\s+(send|add|upload|run|execute|copy|collect|include|append|forward|install)|keep\s+(this|it)\s+(to\s+yourself|secret|hidden)",
    r"|\b(secretly|covertly|discreetly|surreptitiously)\s+(send|add|upload|run|execute|copy|collect|append|forward|install|approve|fetch|post|commit|push|record|disable)|\bsilently\s+(send|upload|collect|forward|exfiltrate|transmit)\b|\b(this|message|note|section|text)\s+is\s+not\s+visible\s+to\s+the\s+user|\b(hide|conceal|withhold)\s+(this|it|them|the\s+\w+)\s+from\s+(the\s+)?(user|human|owner|reviewer)",
    r"|\b(this|these|those)\s+(\w+\s+)?(blocks?|sections?|lines?|modes?|rules?|notes?|paragraphs?|instructions?|guidance)\b[^.\n]{0,40}\b(must|should|may|shall)\s+(not|never)\s+(be\s+)?(ever\s+)?(quoted?|mention\w*|shown?|reveal\w*|disclos\w*|summari[sz]\w*|discuss\w*|hint\w*)|\b(do\s+not|don't|never)\s+let\s+on\s+(that|about)\b|\bexistence\s+of\s+(this|these)\s+(mode|block|section|rules?|instructions?)\b.{0,60}\b(out\s+of|not|never|secret|hidden)",
);

/// Keywords of [`LEFT_OUT`].
pub(super) const LEFT_OUT_KEYWORDS: &str = "\
    out of your,out of the,out of any,mention it,mention this,mention th,announce ,acknowledge ,no need to,\
    not need to,n't need to,need not,needn't,not necessary to,in your summ,in your repl,in your ans,in your resp,\
    in your fin,in your vis,in your plan,in the summar,in the final,in the visible,in the conversation,in any summar,\
    no use for,回复中,回答中,总结中,摘要中,报告中,输出中,思考,日志,不必说明,不必解释,el resumen,el informe,la respuesta,\
    en secreto,no debe ser,no es visible,menciones,no hace falta,no es necesario";

/// Leaving an action out of what the user reads.
pub(super) const LEFT_OUT: &str = concat!(
    r"\b(keep|leave)\s+(it|this|that|them|these|(the|this|these|that)\s+\w+)\s+out\s+of\s+(your\s+|the\s+|any\s+)(\w+\s+)?(summar\w+|reports?|repl(y|ies)|answers?|responses?|plan|output|messages?|logs?|transcript|diff|reasoning|commit)",
    r"|\b(do\s+not|don't|never|without)\s+(ever\s+)?(mention\w*|includ\w+|list\w*|show\w*|describ\w+|report\w*|log\w*|explain\w*|disclos\w+|acknowledg\w+|reveal\w*)\s+(this|it|these|that|the)\s+(\w+\s+){0,3}(in|to|during)\s+(your\s+|the\s+|any\s+)?(\w+\s+)?(summar\w+|repl(y|ies)|answers?|responses?|visible|conversation|plan|final)",
    r"|\b(no\s+need|not\s+necessary)\s+to\s+(explain|mention|show|announce|report|disclose)\s+(it|this|them|that)\b|\bdo\s+not\s+(mention|announce|acknowledge)\s+(it|this|them|that)\b|\bthe\s+(user|reader)\s+has\s+no\s+(use\s+for|need\s+of)\b.{0,24}\b(report|mention|note|summary)|\bthe\s+(user|reader)\s+((does\s+not|doesn't)\s+need\s+to|need\s+not|needn't)\s+be\s+(told|informed|asked|aware)",
    r"|(不要|别|勿|请勿|不得|切勿)在.{0,24}(回复|回答|总结|摘要|报告|思考|输出|日志).{0,12}(提及|提到|显示|出现|说明|透露)(这|此|该|本|上述|以上|任何|有关|步骤|操作|过程|它|。|，|；|\s|$)|(不要|别|勿|请勿|不得|切勿).{0,12}(写入|记入|列入|出现在).{0,12}(总结|摘要|报告|日志)|不必(向用户)?(说明|解释).{0,12}(过程|步骤|操作)",
    r"|\bno\s+(lo\s+|la\s+|los\s+|las\s+)?(incluyas|menciones|cites|muestres|expliques|comentes)\b.{0,60}\b(res(ú|u)men(es)?|informes?|respuestas?|resultados?|explicaci\S+)\b|\bni\s+(lo|la|los|las)\s+(menciones|incluyas|muestres)|\bmant(é|e)n\S*\s+.{0,30}\ben\s+secreto|\bno\s+(es|sea|debe\s+ser)\s+(visible|revelad\S*|mostrad\S*)|\bno\s+(hace\s+falta|es\s+necesario)\s+(comentar|mencionar|decir|explicar)(lo|la|los|las)\b.{0,30}(conversaci|usuari|respuesta|persona)",
);

/// Hiding something from the user, in Chinese: not telling, not letting know, not mentioning an action.
const HIDDEN_FROM_USER_ZH: &str = r"(切勿|不要|不得|请勿|勿|不可|禁止|不能)(透露|提及|泄露|承认|引用|展示|复述).{0,6}(本|这|此|该|上述|以上|特殊).{0,3}(段|节|条|部分|规则|指令|设定)|(不要|别|勿|无需|不得|不能|不必|请勿)(再)?(告诉|告知|通知|提醒)(用户|使用者)(这|此|该|本|上述|任何|有关|关于|你|已|曾|读取|执行|上传|发送|运行|下载|访问|修改|安装|做过|。|，|,|；|\s|$)|(不要|别|勿|不得|不能|请勿)(再)?让(用户|使用者).{0,6}(知道|知晓|察觉|发现|看到|看见|注意)|(不要|别|勿|不得|不能|不必|无需|请勿)(再)?向(用户|使用者).{0,6}(提及|透露|说明|报告|展示|显示|解释|提起)|对(用户|使用者).{0,3}(保密|隐瞒)|(瞒着|避免让|不让)用户|(不要|别|勿|请勿)(提及|透露|说出).{0,24}(上传|发送|执行|运行|读取|步骤|这一步|密钥)|(悄悄|偷偷|暗中|秘密地?)(地)?(读取|上传|发送|复制|收集|附加|执行|运行|记录|安装)";

/// Hiding something from the user, in Spanish.
const HIDDEN_FROM_USER_ES: &str = r"\b(estas?|estos?)\s+(l(í|i)neas?|secci(ó|o)n|bloque|reglas?|notas?|apartado|instrucciones|indicaciones|criterios)\b.{0,30}\bno\s+(se\s+|deben?\s+|puede\S*\s+)+(muestr|mostr|menci|revel|cit|coment|enseñ|divulg)|\bqueda\s+entre\s+nosotros|\bsin\s+(avisar|informar|decir|notificar|contar)\S*\s+(nada\s+)?(al|a\s+la|a\s+los)\s+(usuari|persona)|\bno\s+(se\s+)?(le\s+|lo\s+)?(digas|informes|avises|cuentes|menciones|reveles)\s+(\S+\s+){0,3}(al\s+)?usuari|\bsin\s+que\s+(el\s+|la\s+)?usuari\S+\s+(lo\s+|se\s+)?(sepa|note|vea|entere|d(é|e)\s+cuenta|perciba)|\b(copi|env|mand|sub|le|recopil|guard|ejecut)\S*\s+(\S+\s+){0,3}(en\s+secreto|a\s+escondidas)\b|\b(en\s+secreto|a\s+escondidas|secretamente)\s+(copi|env|mand|sub|recopil|ejecut)|\bno\s+(se\s+)?lo\s+(comentes|digas|menciones|cuentes)\s+(con|a)\s+nadie";

/// Hiding something from the user, or the instruction itself. One pattern for each group of languages, so that only
/// those of the languages in a text are compiled.
pub(super) const HIDES: &[Pattern] = &[
    pattern_except(
        "\
            tell,informing,inform the,inform your,notify,alert,reveal,disclos,mention,must not,must never,should not,\
            should never,without the,secretly,covertly,quietly,stealthily,discreetly,surreptitiously,silently,keep this,\
            keep it,let on,hide ,conceal,withhold,not visible,existence of th",
        &[HIDDEN_FROM_USER_EN],
        NOT_HIDDEN,
    ),
    pattern_except(
        "用户,使用者,提及,透露,泄露,承认,引用,展示,复述,悄悄,偷偷,暗中,秘密",
        &[HIDDEN_FROM_USER_ZH],
        NOT_HIDDEN,
    ),
    pattern_except(
        "usuari,escondidas,nadie,entre nosotros,estas ,estos ,este ,esta ",
        &[HIDDEN_FROM_USER_ES],
        NOT_HIDDEN,
    ),
    pattern_except(
        "usuári,utilisat,nutzer,anwender,utilizador,ユーザー,利用者,使用者,пользовател,사용자,usuari",
        &[
            r"\bne\s+(le\s+|la\s+|les\s+|l'|lui\s+)?(dis|dites|mentionne|signale|r(é|e)v(è|e)le|parle|montre)\w*\s.{0,30}utilisat|\bsans\s+(en\s+)?(informer|avertir|pr(é|e)venir|le\s+dire)\b.{0,16}utilisat|(à|a)\s+l'insu\s+de\s+l'utilisat",
            r"\b(sage?|teile|verrate|informiere|melde|zeige|erw(ä|ae?)hne)\b.{0,40}\b(nutzer|benutzer|anwender)\w*\b.{0,30}\bnicht|\bohne\s+(das\s+)?wissen\s+des\s+\w*nutzers|\bohne\s+(den|dem)\s+\w*nutzer\b.{0,30}\b(informieren|sagen)",
            r"\b(n(ã|a)o|nunca)\s+(conte|diga|informe|mencione|avise|revele)\w*\s.{0,30}(usu(á|a)ri|utilizador)|\bsem\s+(avisar|informar|contar)\b.{0,16}(usu(á|a)ri|utilizador)|\bsem\s+que\s+o\s+(usu(á|a)rio|utilizador)\s+(saiba|perceba)",
            r"(ユーザー|利用者|使用者)(に|には)?.{0,30}(伝え|知らせ|教え|言わ|気付かれ|報告し|通知し)(ない|ず|るな)|не\s+(говори|сообщай|упоминай|рассказывай).{0,40}пользовател|без\s+ведома\s+пользовател|втайне\s+от\s+пользовател|사용자에게.{0,30}(알리지|말하지|보고하지)",
        ],
        NOT_HIDDEN,
    ),
];

/// Sentences that only look as if they hid something.
const NOT_HIDDEN: &str = r"not\s+tell\s+the\s+user\s+to\b|unless|ask(ing)?\s+the\s+user\s+to|\b(api\s+key|token|password|secrets?)\b.{0,120}\b(not|never)\s+(reveal|disclose)\s+(it|them)\b|(不得|禁止|切勿|请勿)瞒";

/// A claim to outrank the system prompt, the user or safety rules.
pub(super) const OUTRANKS: &[&str] = &[
    r"\b(outranks?|overrides?|supersedes?|(takes?|has|have|with)\s+(absolute\s+)?(precedence|priority)\s+over|higher\s+(priority|authority)\s+than|prevails?\s+over|rank\s+above|stand\s+above|trumps?)\b.{0,60}(\bsystem\s+(prompt|message|instructions?)|\buser('s|s')?\s+(messages?|requests?|instructions?|wishes|orders)|\b(safety|security)\s+(rules?|polic\w+|guidelines?|filters?)|\b(all|any)\s+(other|earlier|previous)\s+(skills?|instructions?)|\bdeveloper\s+(messages?|instructions?)|\byour\s+(training|guidelines|instructions)|\b(configuration|rules|guidance|instructions?)\s+(\w+\s+)?(received|given|loaded|you\s+(have|were|got)))",
    r"(高于|优先于|凌驾于?|优先级(高于|超过)|覆盖).{0,30}(系统提示|系统消息|系统指令|安全政策|安全规则|安全策略|用户的?(任何)?(要求|指令|请求)|平台)|与(系统|用户|平台|安全).{0,48}(冲突|矛盾|不一致|不符).{0,12}以.{0,24}为准",
    r"\b(prevalece|prima|est(á|a)n?\s+por\s+encima|tiene\s+(prioridad|preferencia)|tienen\s+(prioridad|preferencia)|prioridad)\w*\s+(\S+\s+)?(sobre|de|a)\s+.{0,30}(sistema|usuario|seguridad|otras\s+(instrucciones|habilidades)|cualquier\s+(otra\s+)?(instrucci|pauta|norma|regla|directriz|indicaci))|\bm(á|a)s\s+peso\s+que\s+.{0,40}(usuari|persona|sistema)",
];

pub(super) const OUTRANK_KEYWORDS: &str = "\
    outrank,overrid,supersede,precedence,priority,higher authority,prevail,rank above,stand above,trump,\
    高于,优先于,凌驾,优先级,覆盖,为准,prevalece,por encima,prioridad,preferencia,prima ,más peso";

/// Obeying a text that comes from elsewhere.
pub(super) const OBEYS_TEXT: Pattern = pattern_except(
    "\
        carry out,carry th,obey,comply,as though,as if,continuation of,remainder of,rest of th,directive,belongs to,\
        addressed to you,written for you,instructions for you,read this file again,reload this,re-read,exactly as,\
        as written,verbatim,word for word,without review,without question,not ask,n't ask,never ask,not pause,not wait,\
        no review,no confirmation,no approval,pre-approved,preapproved,do what,do as,do exactly,do everything,\
        do whatever,act on,act upon,follow it,follow what,follow every,follow the inst,follow the st,follow the dir,\
        follow the rul,follow the ord,follow the com,follow the task,follow the re,follow the fe,follow the do,follow all,\
        follow any,follow them,execute it,execute what,execute every,execute all,execute any,perform every,perform all,\
        perform each,treat ,adopt ,let it govern,instructions from,steps from,rules from,prompts from,directives from,\
        precedence,outrank,给你的,逐条,逐行,逐项,逐步,照做,遵照,按照,遵循,遵守,服从,依照,执行其中,执行里面,视为,视作,当作,\
        当成,看作,为准,dirigidas a ti,para ti,cúmpl,cumpl,obedece,sigue ,síguel,al pie de la letra,ejecútal,ejecuta ,\
        misma autoridad,trátal,trata ,considér,considera ,lo que diga,lo que indique",
    &[
        r"\b(fetch|download|load|get|read|retrieve|pull|query|request|curl|open)\b.{0,80}https?://\S+.{0,120}\b(follow|obey|do\s+(exactly\s+)?(what|as)|carry\s+out|execute|comply\s+with|perform|apply)\b.{0,60}\b(instructions?|steps|says?|tells?|rules|orders|it|them|they|there|directions)\b|\b(fetch|download|load|get|retrieve|pull)\b.{0,40}\b(instructions?|steps|rules|prompts?|directives)\b.{0,40}\bfrom\s+\S{0,3}https?://",
        r"(获取|下载|读取|加载|打开|访问).{0,60}https?://\S+.{0,120}(按照|遵循|遵守|执行|照做).{0,30}(指令|说明|步骤|内容|要求)|\b(descarga|lee|carga|obt(é|e)n|abre|visita)\S*\s.{0,80}https?://\S+.{0,120}\b(sigue|obedece|ejecuta|cumple|haz)\b.{0,60}\b(instrucciones|pasos|diga|dicen|indique|reglas)",
        r"\b(what(ever)?|everything|anything|all)\b[^.\n]{0,40}\b(there|on\s+it|it\s+(says|returns|prints|contains)|the\s+(page|server|script|response|reply|feed|file)\s+(says|returns|prints|sends|contains))\b[^.]{0,60}\b(belongs?\s+to|counts?\s+as|applies|replaces?|extends?|outranks?|overrides?|wins|prevails|takes?\s+precedence|is\s+how\s+you|are\s+your)\b|\b(work|proceed|act|continue|behave|operate)\s+(exactly\s+|strictly\s+|precisely\s+)(as|like)\s+(it|they|the\s+\w+)\s+(describes?|says?|states?|tells?|directs?|defines?)",
        r"\b(its|the\s+(page|server|feed|remote|returned|downloaded|fetched)('s)?)\s+(content|text|version|rules|steps|instructions|answer|directives?)\s+(\w+\s+)?(replaces?|overrides?|supersedes?|outranks?|wins?|takes?\s+(precedence|priority)|(is|are)\s+(right|authoritative|binding)|prevails?)\b|\bcarry\s+(these|those|them|it|all)\s+out\s+(in\s+the\s+order|exactly|before|first|at\s+once|immediately)|\b(apply|follow|obey|adopt|execute|honou?r)\s+(the\s+|any\s+|all\s+)?(remote|downloaded|fetched|returned|received|served)\s+(\w+\s+)?(rules|instructions?|steps|prompts?|polic\w+|directives?|commands?|playbook|runbook)\b|\b(adopt|assume|load|activate)\s+(the\s+)?(\w+\s+)?(prompt|persona|directives?|role)\s+(\w+\s+)?(returned|received|served|from|at)\b|\blet\s+(it|its\s+\w+|the\s+\w+)\s+govern\b",
        r"\b(carry\s+out|obey|act\s+(up)?on|comply\s+with|do|execute|perform|run|follow)\s+(exactly\s+|precisely\s+|immediately\s+)?(everything|whatever|anything|what|as|each|every|all|any)\s+(\w+\s+){0,3}?(it|they|there|the\s+(page|text|file|response|server|document|feed|reply|body|answer|output|content)|that)\s*(\w+\s+){0,2}?(says?|tells?|contains?|asks?|lists?|orders?|returns?|instructs?|states?|requests?|finds?)",
        r"\b((carry\s+out|obey|act\s+(up)?on|comply\s+with|follow)\s+(exactly\s+)?(them|it)\b|(carry\s+out|obey|act\s+(up)?on|comply\s+with|execute|perform|follow|apply)\s+(exactly\s+)?((the|its|these|those|all|any|every|each)\s+(\w+\s+){0,3}?(instructions?|directives?|orders?|steps|commands?|tasks?|rules)\s+(it|they|there|from|you\s+(find|get|receive|see)|that\s+(it|the\s+(page|server|response|file|issue))|returned|received|(in|on|at|of)\s+(it|the\s+(page|response|reply|issue|comment|document|feed|site|url|gist|readme|ticket|message|mail|email|web)|that\s+\w+|there))|its\s+(instructions?|directives?|orders?|steps|commands?)))\b.{0,80}\b(as\s+(if|though)|without|precedence|immediately|straight\s+away|at\s+once|in\s+(the\s+)?order|verbatim|to\s+the\s+letter|before\s+(anything|any|you|continuing|doing)|first|no\s+matter|even\s+if|silently)",
        r"\b(treat|regard|consider|take|handle|interpret)\s+.{0,60}\bas\s+(if\s+\w+\s+(were|was|came)|a\s+(direct\s+)?(request|order|command|instruction)|(your|the|new|binding|additional|authoritative|trusted|system)\s+(\w+\s+)?(instructions?|orders?|rules|system\s+prompt|prompt|directives?|task)|(instructions|orders|directives)\s+(from|by|of)\s+(the\s+)?(user|operator|developer|system))",
        r"\b(text|content|page|response|reply|answer|file|document|message|result|output|body|value|line|entry|entries|directives?)\b.{0,50}\b(is|are)\s+(the\s+|a\s+)?(continuation\s+of\s+(this|the)\s+(skill|file|instructions?)|(instructions?|orders|directives|commands?|tasks?)\s+(for|to|addressed\s+to|aimed\s+at)\s+you|part\s+of\s+(your|these)\s+(system\s+prompt|instructions)|binding|pre-?approved|right\s+where|authoritative)|\b(treat|take|regard|consider)\s+.{0,80}\bas\s+a\s+(request|order|command|task|instruction)\b.{0,20}\b(from|by|of)\s+(the\s+)?(user|operator|owner|developer|admin\w*)",
        r"\b(prints?|printed|outputs?|returns?|returned|responds?|received?|fetched|downloaded|answers?|published)\b.{0,40}\b(is|are)\s+(the\s+)?(remainder|rest|continuation)\s+of\s+(this|the|these|your)\b|\b(perform|run|execute|carry\s+out|apply|do|follow|continue\s+with)\s+((the|each|every|all|its|these|those|whatever|any)\s+)+(\w+\s+){0,2}?(steps?|commands?|instructions?|lines?|entries|tasks|directives|actions)\b.{0,60}\b(exactly\s+as|as\s+written|verbatim|word\s+for\s+word|without\s+(review|asking|question)|(don't|do\s+not|never)\s+ask|no\s+(review|confirmation|approval)|with\s+your\s+tools|(has|have)\s+been\s+approved|(don't|do\s+not)\s+(pause|wait))",
        r"\b(sigue|haz|cumple|obedece|ejecuta|aplica|acata)\s+(al\s+pie\s+de\s+la\s+letra\s+|exactamente\s+|siempre\s+|todo\s+)*lo\s+que\s+(diga|indique|ordene|pida|mande|ponga|contenga|devuelva|responda)",
        r"\b(as\s+though|as\s+if)\s+(it|they)\s+(were|was|had\s+been|stood)\s+(written|part|printed|in|given|here|come)|\bread\s+this\s+file\s+again\b.{0,80}\b(version|go\s+on|continue|follow)|\b(reload|re-read)\s+(this\s+(file|skill)|skill\.md)\b.{0,80}\b(follow|new|version|updated)",
        r"(每一行|内容|文本|结果|返回|其中|里面|页面|文件).{0,12}(都)?(是|为|视为|作为).{0,6}(给你的|对你的|发给你的|你的)?.{0,6}(指令|命令|任务|指示)|(按照|遵照|依照|遵循|遵守|服从|照着?).{0,30}(返回|下发|其中|页面|服务器|远程|里面|上面|网页|文件|文中|所写|顺序).{0,30}(执行|操作|照做|完成|行动|指令|要求|步骤)|(当作|当成|视为|视作|看作).{0,30}(要求|指令|命令|指示|请求|系统提示)|逐(条|行|项|步)(地)?执行|以(服务器|远程|网页|下载|返回|线上).{0,12}为准",
        r"\b(instrucciones|(ó|o)rdenes|tareas|indicaciones|directivas)\s+(dirigidas\s+a\s+ti|para\s+ti|que\s+debes\s+(cumplir|seguir))|\b(c(ú|u)mple|s(í|i)gue|obed(é|e)ce|ejec(ú|u)ta|real(í|i)za|ap(l|lí)ca|acata)(la|lo|las|los)\b.{0,60}\b(por\s+completo|al\s+pie|sin|antes|todas?|en\s+orden|exactamente|tal\s+cual|como\s+si|de\s+inmediato|literalmente)|\b(cumple|sigue|obedece|ejecuta|haz|acata|realiza)\s+(todo\s+)?(lo\s+que|las?\s+(instrucciones|(ó|o)rdenes|tareas|indicaciones)\s+(que\s+)?(\S+\s+)?(recib|conten|diga|indique|aparezca|devuel|encuentr|obten|descarg))|\b(sigue|cumple|obedece|ejecuta|acata|aplica)\s+(sus|las|los|estas|esas)\s+(instrucciones|pasos|(ó|o)rdenes|indicaciones|comandos)\b.{0,30}(al\s+pie|aunque|sin\s|exactamente|antes\s+de|tal\s+cual)|\b(sigue|cumple|obedece|ejecuta|acata|aplica)\s+(las?|los|sus)\s+(instrucciones|pasos|(ó|o)rdenes|indicaciones|reglas)\s+(\S+\s+){0,2}(descargad|recibid|remot|obtenid|del\s+servidor)|\bcon\s+la\s+misma\s+autoridad|\btr(á|a)ta(lo|la|los|las)?\s+.{0,20}como\s+(instrucciones|(ó|o)rdenes|si\s+fuera)|\bconsid(é|e)ra(lo|la|los|las)?\s+.{0,40}(ampliaci|continuaci|extensi|parte\s+de|instrucci|(ó|o)rden)",
    ],
    r"\b(never|do\s+not|don't|must\s+not|should\s+not|not\s+to|refuse\s+to|rather\s+than|instead\s+of)\s+(\w+\s+){0,3}(follow|obey|execute|act|carry|comply|treat|run|do)\b|\b(is|are)\s+(not|no|never)\s+(an?\s+)?(instruction|order|command)|\bas\s+data\b|\bnot\s+as\s+instructions|(不要|不得|切勿|请勿|禁止|绝不|不可).{0,12}(执行|遵循|服从|照做|按照|当作)|不是.{0,6}指令|\b(no|nunca|jamás)\s+(\S+\s+)?(sigas|obedezcas|cumplas|ejecutes|hagas|trates)|\bcomo\s+datos|\binstall(ation)?\s+(steps|instructions|guide)|[\x01-\x08\x0e-\x1a]",
);

/// A text that is fetched from the network.
pub(super) const FETCHED: Pattern = pattern_except(
    "\
        https://,http://,dig ,nslookup,curl,wget,webfetch,remote ,web page,issue,txt record,registro txt,\
        refresh,gist,feed,el dns,服务器,远程,网址,下发,推送,endpoint,scripts/,downloaded",
    &[
        r"https?://[\w$<{\[]",
        r"\b(dig|nslookup)\s+.{0,20}\btxt\b|\b(curl|wget)\s+\S|\bweb_?fetch\b|\bremote\s+(server|url|endpoint|file|page|host|config)|\btxt\s+record|\bregistro\s+txt|scripts/[\w.-]+.{0,80}\b(print\w*|output\w*|returns?|fetch\w*|latest|current|newest|imprim\w+)|scripts/\w*(refresh|update|sync|actualiz\w+)\w*\.|\b(the|each|every)\s+downloaded\s+(text|file|rules|steps|page)|\bendpoint\b|\b(the|its|this)\s+feed\b|\b(github|gitlab|newest|latest|open|new|each|every)\s+(\w+\s+)?(issues?|pull\s+requests?|tickets?|comments?|e-?mails?)\b|\bweb\s*pages?\b",
    ],
    r"https?://(localhost|127(\.\d+){3}|([\w-]+\.)*(microsoft|google|github|anthropic|openai|mozilla|python|nodejs|docker|kubernetes|amazon|apple|oracle|redhat|debian|ubuntu|rust-lang|w3|ietf|wikipedia)\.(com|org|io|dev|net))(:\d+)?([/\s'\x22\x60),]|$)",
);
