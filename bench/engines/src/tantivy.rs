//! `tantivy` with its default tokenizer and BM25: name and description, and the body, as two fields, or all as one text. The index
//! is merged into one segment, read through a memory map, and has no positions.

use std::path::Path;
use std::thread::available_parallelism;

use tantivy::collector::TopDocs;
use tantivy::columnar::Column;
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::{FAST, Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, TokenStream};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::engine::{Engine, EngineError, SearchIndex, Skills};

/// The memory budget per thread.
const MEMORY_PER_THREAD: usize = 500_000_000;

const TOKENIZER: &str = "default";

/// The fields of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tantivy {
    TwoFields,
    OneText,
}

/// The schema and its fields.
struct Fields {
    schema: Schema,
    number: Field,
    texts: Vec<Field>,
}

impl Tantivy {
    pub(crate) const ALL: [Self; 2] = [Self::TwoFields, Self::OneText];

    fn fields(self) -> Fields {
        let mut schema = Schema::builder();
        let number = schema.add_u64_field("number", FAST);
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqs);
        let options = TextOptions::default().set_indexing_options(indexing);
        let names: &[&str] = match self {
            Self::TwoFields => &["about", "body"],
            Self::OneText => &["text"],
        };
        let texts = names.iter().map(|name| schema.add_text_field(name, options.clone())).collect();
        Fields { schema: schema.build(), number, texts }
    }
}

impl Engine for Tantivy {
    fn name(&self) -> &'static str {
        match self {
            Self::TwoFields => "tantivy, two fields",
            Self::OneText => "tantivy, one text",
        }
    }

    fn build(&self, dir: &Path, skills: &Skills<'_>) -> Result<(), EngineError> {
        let fields = self.fields();
        let index = Index::create_in_dir(dir, fields.schema.clone())?;
        let threads = available_parallelism()?.get();
        let mut writer: IndexWriter = index.writer_with_num_threads(threads, threads * MEMORY_PER_THREAD)?;
        // Merge only at the end, so that nothing is merged twice.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        for number in 0..skills.size {
            let texts = (skills.texts)(number);
            let about = texts.name + "\n" + &texts.about;
            let mut document = TantivyDocument::new();
            document.add_u64(fields.number, number as u64);
            match (*self, &fields.texts[..]) {
                (Self::TwoFields, [first, second]) => {
                    document.add_text(*first, about);
                    document.add_text(*second, texts.body);
                }
                (_, texts_of) => texts_of
                    .iter()
                    .for_each(|field| document.add_text(*field, format!("{about}\n{}", texts.body))),
            }
            writer.add_document(document)?;
        }
        writer.commit()?;
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            writer.merge(&segments).wait()?;
        }
        writer.garbage_collect_files().wait()?;
        Ok(writer.wait_merging_threads()?)
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn SearchIndex>, EngineError> {
        let index = Index::open_in_dir(dir)?;
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let numbers = searcher
            .segment_readers()
            .iter()
            .map(|segment| segment.fast_fields().u64("number"))
            .collect::<Result<_, _>>()?;
        let analyzer = index.tokenizers().get(TOKENIZER).ok_or("the default tokenizer is missing")?;
        Ok(Box::new(TantivyIndex { searcher, analyzer, texts: self.fields().texts, numbers }))
    }
}

struct TantivyIndex {
    searcher: Searcher,
    analyzer: TextAnalyzer,
    texts: Vec<Field>,
    /// The numbers of the skills, by segment.
    numbers: Vec<Column<u64>>,
}

impl SearchIndex for TantivyIndex {
    fn search(&self, message: &str, k: usize) -> Result<Vec<usize>, EngineError> {
        let mut words: Vec<String> = Vec::new();
        self.analyzer.clone().token_stream(message).process(&mut |token| words.push(token.text.clone()));
        words.sort_unstable();
        words.dedup();
        let term = |field: &Field, word: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(*field, word), IndexRecordOption::WithFreqs))
        };
        let any = self.texts.iter().flat_map(|field| words.iter().map(move |word| term(field, word)));
        let best = self
            .searcher
            .search(&BooleanQuery::union(any.collect()), &TopDocs::with_limit(k).order_by_score())?;
        let number = |segment: u32, document: u32| {
            let numbers = self.numbers.get(segment as usize)?;
            usize::try_from(numbers.first(document)?).ok()
        };
        Ok(best.into_iter().filter_map(|(_, address)| number(address.segment_ord, address.doc_id)).collect())
    }
}
