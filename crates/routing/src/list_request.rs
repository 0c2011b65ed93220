//! Detecting messages that ask for the list of skills, such as "What can you do?".

use super::text::{fold, is_word, truncate};

/// The maximum length of such a message, in characters. A longer one asks for something else as well.
const QUESTION_MAX: usize = 200;

/// Questions in lower case without punctuation.
const QUESTIONS: &[&str] = &[
    // English
    "what can you do",
    "what can you do for me",
    "what else can you do",
    "what can you help me with",
    "what can you help with",
    "what all can you do",
    "how can you help me",
    "how can you help",
    "what are you able to do",
    "what are you capable of",
    "what are your skills",
    "what are your capabilities",
    "what are your abilities",
    "what are the available skills",
    "what skills are available",
    "what skills are there",
    "what skills are installed",
    "what skills do you have",
    "what skills do i have",
    "what skills can you use",
    "which skills are available",
    "which skills are there",
    "which skills are installed",
    "which skills do you have",
    "which skills do i have",
    "which skills can you use",
    "do you have any skills",
    "tell me what you can do",
    "tell me about your skills",
    "show me what you can do",
    "available skills",
    "list skills",
    "list the skills",
    "list all skills",
    "list all the skills",
    "list all your skills",
    "list all available skills",
    "list available skills",
    "list the available skills",
    "list installed skills",
    "list your skills",
    "list my skills",
    "list your capabilities",
    "show skills",
    "show all skills",
    "show available skills",
    "show the skills",
    "show the available skills",
    "show your skills",
    "show my skills",
    "show me skills",
    "show me the skills",
    "show me all skills",
    "show me your skills",
    "show me my skills",
    "show me the available skills",
    "show me the list of skills",
    // German
    "was kannst du",
    "was kannst du tun",
    "was kannst du alles",
    "was kannst du für mich tun",
    "was können sie",
    "was können sie tun",
    "was können sie für mich tun",
    "wobei kannst du mir helfen",
    "wie kannst du mir helfen",
    "welche skills hast du",
    "welche skills gibt es",
    "welche fähigkeiten hast du",
    "zeig mir deine skills",
    "zeige mir deine skills",
    "zeige deine skills",
    "zeige alle skills",
    "liste alle skills auf",
    "liste deine skills auf",
    // French
    "que peux-tu faire",
    "que peux-tu faire pour moi",
    "que pouvez-vous faire",
    "que pouvez-vous faire pour moi",
    "que sais-tu faire",
    "qu'est-ce que tu peux faire",
    "qu'est-ce que tu sais faire",
    "qu'est-ce que vous pouvez faire",
    "quelles sont tes compétences",
    "quelles sont vos compétences",
    "quelles compétences as-tu",
    "liste les compétences",
    "liste tes compétences",
    "montre-moi tes compétences",
    // Spanish
    "qué puedes hacer",
    "que puedes hacer",
    "qué puedes hacer por mí",
    "qué sabes hacer",
    "que sabes hacer",
    "qué puede hacer",
    "en qué puedes ayudarme",
    "en qué me puedes ayudar",
    "cómo puedes ayudarme",
    "cuáles son tus habilidades",
    "qué habilidades tienes",
    "lista tus habilidades",
    "lista las habilidades",
    "muéstrame tus habilidades",
    // Chinese
    "你能做什么",
    "你能做些什么",
    "你能干什么",
    "你会什么",
    "你会做什么",
    "你会做些什么",
    "你可以做什么",
    "你可以做些什么",
    "你都能做什么",
    "你都会什么",
    "你能帮我做什么",
    "你可以帮我做什么",
    "你有什么技能",
    "你有哪些技能",
    "有什么技能",
    "有哪些技能",
    "列出技能",
    "列出所有技能",
    "列出你的技能",
    "显示所有技能",
    "技能列表",
    "你能做什麼",
    "你會什麼",
    "你會做什麼",
    "你可以做什麼",
    "你有什麼技能",
    // Japanese
    "何ができますか",
    "何ができるの",
    "あなたは何ができますか",
    "スキル一覧",
    "スキルを一覧表示して",
];

/// Words before or after the question.
const FILLERS: &[&str] = &[
    "please", "hi", "hey", "hello", "so", "ok", "okay", "and", "then", "now", "bitte", "hallo", "bonjour",
    "hola", "et", "y", "und",
];

/// Returns `true` if a sentence of a short message asks for the list of skills.
///
/// ```
/// use prowess_routing::asks_for_list;
///
/// assert!(asks_for_list("Hi! What can you do?"));
/// assert!(asks_for_list("你有哪些技能？"));
/// assert!(!asks_for_list("What can you do about this bug?"));
/// ```
pub fn asks_for_list(message: &str) -> bool {
    if truncate(message, QUESTION_MAX).len() < message.len() {
        return false;
    }
    let sentences =
        message.split(['.', '!', '?', '。', '！', '？', '\n', ',', '，', '、', ';', ':', '¿', '¡']);
    sentences.map(normalize).any(|sentence| QUESTIONS.contains(&sentence.as_str()))
}

/// Normalizes a sentence: removes punctuation at its ends and filler words.
fn normalize(sentence: &str) -> String {
    let folded = fold(sentence).replace('’', "'");
    let mut words: Vec<&str> = folded.split(' ').filter(|word| word.contains(is_word)).collect();
    while words.first().is_some_and(|word| FILLERS.contains(word)) {
        words.remove(0);
    }
    while words.last().is_some_and(|word| FILLERS.contains(word)) {
        words.pop();
    }
    words.join(" ").trim_matches(|c: char| !is_word(c)).trim_end_matches(['吗', '呢', '啊', '呀']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s003_04_questions_for_the_list_are_recognized() {
        for message in [
            "what can you do?",
            "What can you DO",
            "hey, what can you do for me please?",
            "List skills",
            "list all skills.",
            "/list skills",
            "Which skills do you have?",
            "你能做什么？",
            "你会什么呢",
            "Was kannst du alles?",
            "Que peux-tu faire ?",
            "Qu’est-ce que tu peux faire ?",
            "¿Qué puedes hacer?",
            "何ができますか？",
        ] {
            assert!(asks_for_list(message), "{message}");
        }
        for message in [
            "",
            "what can you do about it",
            "list the files",
            "improve my skills",
            &"what can you do? ".repeat(20),
        ] {
            assert!(!asks_for_list(message), "{message}");
        }
    }

    #[test]
    fn questions_are_normalized() {
        for question in QUESTIONS {
            assert_eq!(&normalize(question), question);
        }
    }
}
