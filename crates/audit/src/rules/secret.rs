//! PA4xx: leaked keys and tokens. Placeholders and examples are ignored.

use crate::finding::{Family::Secret, FindingSeverity::*};
use crate::rule::{Matcher::*, Rule, RuleScope::*, SecretCheck, example, pattern, pattern_except};

const HELP: &str = "the owner must replace it; do not use a key that you found";
const REASON: &str = "anyone who reads the skill can use it";

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "PA401",
        family: Secret,
        severity: High,
        title: "AWS access key",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern("akia,asia", &[r"\b((?-i:AKIA|ASIA)(?-i:[A-Z2-7]{16}))\b"]),
            SecretCheck::Format,
        ),
        example: example("config.json", "{\"id\": \"AKIA·R6QZ3MWX2KVN5TBD\"}\n"),
    },
    Rule {
        id: "PA402",
        family: Secret,
        severity: High,
        title: "GitHub or GitLab token",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern(
                "ghp_,gho_,ghu_,ghs_,ghr_,github_pat_,glpat-",
                &[r"\b(gh[pousr]_[a-z0-9]{36}|github_pat_[a-z0-9]{22}_[a-z0-9]{59}|glpat-[a-z0-9_-]{20})\b"],
            ),
            SecretCheck::Format,
        ),
        example: example("scripts/a.py", "T = \"ghp_·Yq7mK2vX9bTn4RcW8sLd1HfYp6GjUa3EoQi5\"\n"),
    },
    Rule {
        id: "PA403",
        family: Secret,
        severity: High,
        title: "Slack token or webhook",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern(
                "xoxb-,xoxp-,xoxa-,xoxs-,xoxe-,hooks.slack.com/services/t",
                &[r"\b(xox[bpase]-[0-9a-z-]{24,}|hooks\.slack\.com/services/T\w{8,}/B\w{8,}/\w{20,})"],
            ),
            SecretCheck::Format,
        ),
        example: example(
            "scripts/a.py",
            "T = \"xoxb-·283746501928-384756102938-aBzQmK27vXTnRcWsLd9HfYpG\"\n",
        ),
    },
    Rule {
        id: "PA404",
        family: Secret,
        severity: High,
        title: "API key of a model provider",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern(
                "sk-,hf_,gsk_",
                &[
                    r"\b(sk-(?:proj|svcacct|admin)-[a-z0-9_-]{40,}|sk-ant-[a-z0-9]{2,8}-[a-z0-9_-]{60,}|sk-or-v1-[0-9a-f]{64}|sk-[a-z0-9]{20}T3BlbkFJ[a-z0-9]{20}|(?-i:hf_[A-Za-z]{34})|gsk_[a-z0-9]{52})",
                ],
            ),
            SecretCheck::Format,
        ),
        example: example(
            "scripts/a.py",
            "K = \"sk-proj-·8fKq2LmZ7xVb4TnRc8WsYd1HpGj6UaEoQi3XkBvNt5MzDr0ScFwT\"\n",
        ),
    },
    Rule {
        id: "PA405",
        family: Secret,
        severity: Medium,
        title: "Google API key",
        reason: "some are meant to be public, others are not",
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(pattern("aiza", &[r"\b((?-i:AIza)[0-9a-z_-]{35})\b"]), SecretCheck::Format),
        example: example("scripts/a.js", "k = \"AIza·SyKq2LmZ7xVb4TnRc8WsYd1HpGj6UaEoQi3\"\n"),
    },
    Rule {
        id: "PA406",
        family: Secret,
        severity: High,
        title: "live Stripe key",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern("sk_live_,rk_live_", &[r"\b([sr]k_live_[0-9a-z]{20,})\b"]),
            SecretCheck::Format,
        ),
        example: example("scripts/a.py", "k = \"sk_live_·41HqZmK2vX9bTn4RcW8sLd1HfYp6\"\n"),
    },
    Rule {
        id: "PA407",
        family: Secret,
        severity: High,
        title: "private key",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern(
                "private key",
                &[
                    r"-----BEGIN\s(?:[A-Z]+\s)?PRIVATE\sKEY(?:\sBLOCK)?-----(?:\\n|\s|\x22|\+)+([a-z0-9+/=]{40,})",
                ],
            ),
            SecretCheck::Entropy,
        ),
        example: example(
            "key.pem",
            "-----BEGIN PRIVATE ·KEY-----\nMIIEowIBAAKCAQEAx7Kq2LmZ9vVb4TnRc8WsYd1HpGj6UaEoQi3XkBvN\n-----END PRIVATE KEY-----\n",
        ),
    },
    Rule {
        id: "PA408",
        family: Secret,
        severity: High,
        title: "token of a package registry, a bot or a mail service",
        reason: REASON,
        help: HELP,
        scope: Any,
        matcher: LineWithSecret(
            pattern(
                "npm_,pypi-,sg.,:aa,dop_v1_,shpat_",
                &[
                    r"\b((?-i:npm_[A-Za-z0-9]{36})|pypi-AgEIcHlwaS5vcmc[a-z0-9_-]{50,}|SG\.[a-z0-9_-]{22}\.[a-z0-9_-]{43}|[0-9]{8,10}:AA[a-z0-9_-]{33}|dop_v1_[0-9a-f]{64}|shpat_[0-9a-f]{32})\b",
                ],
            ),
            SecretCheck::Format,
        ),
        example: example("scripts/a.py", "T = \"npm_·Yq7mK2vX9bTn4RcW8sLd1HfYp6GjUa3EoQi5\"\n"),
    },
    Rule {
        id: "PA409",
        family: Secret,
        severity: Medium,
        title: "possible password or key",
        reason: "anyone who reads the skill may be able to use it",
        help: "keep it out of the skill: read it from the environment",
        scope: Any,
        matcher: LineWithSecret(
            pattern_except(
                "secret,password,passwd,api_key,apikey,api-key,token,auth_key,authkey,auth-key,access_key,accesskey,access-key",
                &[
                    r"\b[\w-]*(?:secret|passw(?:or)?d|api[_-]?key|token|auth[_-]?key|access[_-]?key)[\w-]*['\x22]?\s*(?::|=|:=|=>)\s*['\x22]([a-z0-9+/=_.~-]{24,128})['\x22]",
                ],
                r"\b(hash|digest|sha\d*|checksum|integrity|example|sample|fixture|uuid|tokenizer|token_type|next_?page|cursor)\b|https?://|\.json|\.py|process\.env|os\.environ",
            ),
            SecretCheck::Entropy,
        ),
        example: example("scripts/a.py", "db_password = \"Kq2LmZ7xVb4TnRc8WsYd1HpGj6Ua\"\n"),
    },
];
