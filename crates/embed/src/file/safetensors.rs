//! The one table of numbers in a `.safetensors` file, read strictly.
//!
//! The format: eight bytes say how long the header is, the header is JSON, and behind it lie the numbers. Here the file
//! has to hold exactly one tensor of two dimensions, of floats, which fills everything behind the header.

use std::collections::BTreeMap;

use prowess_routing::semantic::DIMENSIONS_MAX;
use serde::Deserialize;

use super::half::{bf16, f16};

/// The longest header, in bytes. One tensor needs a hundred.
const HEADER_MAX: usize = 64 * 1024;

/// The most tokens of a vocabulary.
const ROWS_MAX: usize = 4_000_000;

/// A table of numbers: a row for each token.
///
/// ```
/// use prowess_embed::file::Matrix;
///
/// let header = br#"{"embeddings":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;
/// let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
/// bytes.extend(header);
/// bytes.extend(1.5_f32.to_le_bytes());
/// bytes.extend(2.0_f32.to_le_bytes());
/// let matrix = Matrix::of(bytes).unwrap();
/// assert_eq!((matrix.rows(), matrix.columns()), (1, 2));
/// let mut row = [0.0; 2];
/// matrix.add_row(0, &mut row);
/// assert_eq!(row, [1.5, 2.0]);
/// ```
#[derive(Debug)]
pub struct Matrix {
    bytes: Vec<u8>,
    /// Where the numbers begin.
    start: usize,
    rows: usize,
    columns: usize,
    kind: Kind,
}

/// Why a file is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SafetensorsError {
    /// It is shorter than it says, or its header is longer than any.
    #[error("is cut off, or is no safetensors file")]
    Cut,
    /// The header is not what a header is.
    #[error("has a header that is not understood")]
    Header,
    /// Not one table alone.
    #[error("has {0} tensors; a table of token embeddings has one")]
    Tensors(usize),
    /// Numbers of another kind.
    #[error("has numbers of another kind than F32, F16 and BF16")]
    Kind,
    /// Not two dimensions, or too many of them.
    #[error("has a tensor that is no table of tokens and numbers")]
    Shape,
    /// The numbers are not where the header says.
    #[error("has more or fewer bytes than its header says")]
    Length,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    F32,
    F16,
    Bf16,
}

impl Kind {
    fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

impl Matrix {
    /// Takes the bytes of a file over.
    pub fn of(bytes: Vec<u8>) -> Result<Self, SafetensorsError> {
        use SafetensorsError as Wrong;
        let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length)).ok_or(Wrong::Cut)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= HEADER_MAX).ok_or(Wrong::Cut)?;
        let start = 8 + length;
        let header = bytes.get(8..start).ok_or(Wrong::Cut)?;
        let mut header: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|_| Wrong::Header)?;
        // What people wrote about the file, in words.
        header.remove("__metadata__");
        let tensors = header.len();
        let (Some((_, tensor)), 1) = (header.pop_first(), tensors) else {
            return Err(Wrong::Tensors(tensors));
        };
        let tensor: Tensor = serde_json::from_value(tensor).map_err(|_| Wrong::Header)?;
        let kind = match &*tensor.dtype {
            "F32" => Kind::F32,
            "F16" => Kind::F16,
            "BF16" => Kind::Bf16,
            _ => return Err(Wrong::Kind),
        };
        let [rows, columns] = tensor.shape[..] else { return Err(Wrong::Shape) };
        if !(1..=ROWS_MAX).contains(&rows) || !(1..=DIMENSIONS_MAX).contains(&columns) {
            return Err(Wrong::Shape);
        }
        let size = rows * columns * kind.bytes();
        if tensor.data_offsets != [0, size] || bytes.len() - start != size {
            return Err(Wrong::Length);
        }
        Ok(Self { bytes, start, rows, columns, kind })
    }

    /// How many tokens there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many numbers each has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Adds a row to a sum; a row that is not there adds nothing.
    pub fn add_row(&self, row: usize, sum: &mut [f32]) {
        let width = self.columns * self.kind.bytes();
        let from = row.checked_mul(width).and_then(|from| from.checked_add(self.start));
        let Some(row) = from.and_then(|from| self.bytes.get(from..from.checked_add(width)?)) else { return };
        let pairs = || row.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair));
        let add = |(sum, number): (&mut f32, f32)| *sum += number;
        match self.kind {
            Kind::F32 => sum
                .iter_mut()
                .zip(row.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)))
                .for_each(add),
            Kind::F16 => sum.iter_mut().zip(pairs().map(f16)).for_each(add),
            Kind::Bf16 => sum.iter_mut().zip(pairs().map(bf16)).for_each(add),
        }
    }
}

#[cfg(test)]
mod tests;
