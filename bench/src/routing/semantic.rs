//! The value of semantic similarity: messages ranked by words only, by vectors only, and by both with several weights.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess_config::{EmbeddingsProvider, EmbeddingsSettings};
use prowess_routing::eval::{EvalReport, LabelledMessage, RoutedMessage, compare, evaluate_routed};
use prowess_routing::semantic::{Embedder, FusedSkill, LEXICAL_CANDIDATES, Purpose, Vectors, fuse};
use prowess_routing::{CONFIDENCE_MIN, LexicalIndex, RankedSkill, SkillTexts};

use prowess_bench::catalog::data::Data;
use prowess_bench::catalog::print_line;
use prowess_bench::catalog::score::row;

const WEIGHTS: [f32; 7] = [0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0];

/// The maximum length of embedded texts, as in Prowess.
const TEXT_MAX: usize = 2_000;

/// Measures with the model `openai:URL#MODEL` or `ollama:URL#MODEL`.
pub(crate) fn run(data: &Data, options: &[String]) -> Result<(), String> {
    let [model, sizes @ ..] = options else {
        return Err("missing model: openai:URL#MODEL or ollama:URL#MODEL".to_owned());
    };
    let embedder = embedder(model)?;
    let sizes: Vec<usize> = match sizes {
        [] => vec![1_000],
        sizes => sizes
            .iter()
            .map(|size| size.parse().map_err(|_| format!("invalid size {size}")))
            .collect::<Result<_, _>>()?,
    };
    let messages: Vec<&LabelledMessage> = data.messages.iter().chain(&data.negatives).collect();
    let queries = embed(&*embedder, messages.iter().map(|message| message.query.as_str()))?;
    let queries: HashMap<&str, &Vec<f32>> =
        messages.iter().map(|message| message.query.as_str()).zip(&queries).collect();
    for size in sizes {
        measure(data, &data.sample(size), &*embedder, &queries)?;
    }
    Ok(())
}

fn measure(
    data: &Data,
    skills: &[SkillTexts],
    embedder: &dyn Embedder,
    queries: &HashMap<&str, &Vec<f32>>,
) -> Result<(), String> {
    let start = Instant::now();
    let texts: Vec<String> = skills.iter().map(|skill| format!("{}\n{}", skill.name, skill.about)).collect();
    let vectors = embed(embedder, texts.iter().map(String::as_str))?;
    let vectors = Vectors::new(&vectors).map_err(|error| error.to_string())?;
    print_line(&format!(
        "\n{} skills, {} dimensions, embedded in {:.1} s: hit@1, recall@5 with 95 % intervals, MRR",
        skills.len(),
        vectors.dimensions(),
        start.elapsed().as_secs_f64()
    ));
    let index = LexicalIndex::new(skills, SkillTexts::clone);
    let similarities = |message: &LabelledMessage| {
        queries
            .get(message.query.as_str())
            .and_then(|query| vectors.similarities(query).ok())
            .unwrap_or_default()
    };
    let names = |found: &[usize]| found.iter().map(|skill| skills[*skill].name.clone()).collect::<Vec<_>>();
    let words = |message: &LabelledMessage| {
        let found = index.rank(&message.query, 10);
        let fits = found.first().is_some_and(|first| first.confidence >= CONFIDENCE_MIN);
        (names(&found.iter().map(|found| found.skill).collect::<Vec<_>>()), fits)
    };
    let alone = |message: &LabelledMessage| {
        let found = fuse(Vec::new(), &similarities(message), 1.0);
        (names(&found.iter().map(|found| found.skill).take(10).collect::<Vec<_>>()), false)
    };
    // The lexical and semantic results do not depend on the weight, so they are computed once.
    let halves = |messages: &[LabelledMessage]| -> Vec<(Vec<RankedSkill>, Vec<f32>)> {
        messages
            .iter()
            .map(|message| (index.rank(&message.query, LEXICAL_CANDIDATES), similarities(message)))
            .collect()
    };
    let (positive, negative) = (halves(&data.messages), halves(&data.negatives));
    let plain = print_score("words only", data, &words);
    print_score("vectors only", data, &alone);
    for weight in WEIGHTS {
        let fused = |half: &(Vec<RankedSkill>, Vec<f32>)| {
            let found = fuse(half.0.clone(), &half.1, weight);
            let fits = found
                .first()
                .and_then(|first: &FusedSkill| first.lexical.as_ref())
                .is_some_and(|w| w.confidence >= CONFIDENCE_MIN);
            (names(&found.iter().map(|found| found.skill).take(10).collect::<Vec<_>>()), fits)
        };
        let answers: [Vec<(Vec<String>, bool)>; 2] =
            [positive.iter().map(fused).collect(), negative.iter().map(fused).collect()];
        let [report, negatives] = [(&data.messages, &answers[0]), (&data.negatives, &answers[1])].map(report);
        let others: Vec<Vec<String>> = plain.iter().map(|(names, _)| names.clone()).collect();
        let ours: Vec<Vec<String>> = answers[0].iter().map(|(names, _)| names.clone()).collect();
        let [hits, recall, _] = compare(&data.messages, &ours, &others, 5);
        let confident = answers[0].iter().filter(|(_, fits)| *fits).count() as f64 / answers[0].len() as f64;
        print_line(&format!(
            "{}  gain {:+.3} [{:+.3} {:+.3}], {:+.3} [{:+.3} {:+.3}]; confident {confident:.3}, confident but wrong {:.3}",
            row(&format!("both, weight {weight}"), &report.all),
            hits.0,
            hits.1[0],
            hits.1[1],
            recall.0,
            recall.1[0],
            recall.1[1],
            negatives.all.false_activations
        ));
    }
    let start = Instant::now();
    data.messages.iter().for_each(|message| drop(similarities(message)));
    print_line(&format!(
        "one scan of all vectors: {:.3} ms",
        start.elapsed().as_secs_f64() * 1e3 / data.messages.len() as f64
    ));
    Ok(())
}

fn report((messages, answers): (&Vec<LabelledMessage>, &Vec<(Vec<String>, bool)>)) -> EvalReport {
    let answered = messages.iter().zip(answers);
    evaluate_routed(
        answered.map(|(message, (ranking, fits))| RoutedMessage { message, ranking, is_confident: *fits }),
        5,
    )
}

fn print_score(
    name: &str,
    data: &Data,
    answer: &dyn Fn(&LabelledMessage) -> (Vec<String>, bool),
) -> Vec<(Vec<String>, bool)> {
    let answers: Vec<(Vec<String>, bool)> = data.messages.iter().map(answer).collect();
    print_line(&row(name, &report((&data.messages, &answers)).all));
    answers
}

fn embed<'t>(embedder: &dyn Embedder, texts: impl Iterator<Item = &'t str>) -> Result<Vec<Vec<f32>>, String> {
    let texts: Vec<&str> = texts.map(|text| &text[..text.floor_char_boundary(TEXT_MAX)]).collect();
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in texts.chunks(embedder.batch_size()) {
        vectors.extend(embedder.embed(batch, Purpose::Skills).map_err(|error| error.to_string())?);
    }
    Ok(vectors)
}

fn embedder(model: &str) -> Result<Arc<dyn Embedder>, String> {
    let (provider, rest) =
        model.split_once(':').ok_or("missing model: openai:URL#MODEL or ollama:URL#MODEL")?;
    let mut embeddings =
        EmbeddingsSettings { timeout: Duration::from_secs(60), ..EmbeddingsSettings::default() };
    let (url, name) = rest.split_once('#').ok_or("missing #MODEL after the URL")?;
    embeddings.provider =
        if provider == "ollama" { EmbeddingsProvider::Ollama } else { EmbeddingsProvider::OpenAi };
    (embeddings.base_url, embeddings.model) = (Some(url.to_owned()), Some(name.to_owned()));
    let embedder = prowess_embed::embedder(&embeddings, |_| None).map_err(|error| error.to_string())?;
    embedder.ok_or_else(|| "no model".to_owned())
}
