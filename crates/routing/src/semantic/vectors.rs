//! Vectors of one length, quantized to one byte per number, and their similarities.
//!
//! Vectors are normalized to length 1 first. Integers are compared, so that the same bytes give the same result
//! on every machine.

use super::embedder::EmbedError;

/// The maximum length of a vector.
pub const DIMENSIONS_MAX: usize = 8192;

/// Quantized vectors.
///
/// ```
/// use prowess_routing::semantic::Vectors;
///
/// let vectors = Vectors::new(&[vec![1.0, 0.0], vec![0.0, 2.0]]).unwrap();
/// let similarities = vectors.similarities(&[3.0, 3.0]).unwrap();
/// assert!((similarities[0] - 0.707).abs() < 0.01 && similarities[0] == similarities[1]);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Vectors {
    dimensions: usize,
    /// The value of one unit of each vector; 0 for a zero vector.
    scales: Vec<f32>,
    bytes: Vec<i8>,
}

impl Vectors {
    /// Quantizes vectors. They must have the same length, and contain only finite numbers.
    pub fn new(vectors: &[Vec<f32>]) -> Result<Self, EmbedError> {
        let mut all = Self::default();
        vectors.iter().try_for_each(|vector| all.push(vector))?;
        Ok(all)
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns `true` if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Returns the length of each vector; 0 if there are none.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Adds a vector.
    pub(super) fn push(&mut self, vector: &[f32]) -> Result<(), EmbedError> {
        let (bytes, scale) = quantize(vector)?;
        if self.is_empty() {
            self.dimensions = bytes.len();
        } else if self.dimensions != bytes.len() {
            return Err(EmbedError::Dimensions { expected: self.dimensions, actual: bytes.len() });
        }
        self.scales.push(scale);
        self.bytes.extend(bytes);
        Ok(())
    }

    /// Copies a vector of another collection, if it has the same length.
    pub(super) fn push_from(&mut self, other: &Self, index: usize) -> bool {
        if self.is_empty() {
            self.dimensions = other.dimensions;
        }
        let (Some(scale), Some(row)) = (other.scales.get(index), other.row(index)) else { return false };
        if self.dimensions != other.dimensions {
            return false;
        }
        self.scales.push(*scale);
        self.bytes.extend(row);
        true
    }

    /// Returns the similarity of each vector with `vector`, from −1 to 1.
    pub fn similarities(&self, vector: &[f32]) -> Result<Vec<f32>, EmbedError> {
        let (vector, scale) = quantize(vector)?;
        if vector.len() != self.dimensions && !self.is_empty() {
            return Err(EmbedError::Dimensions { expected: self.dimensions, actual: vector.len() });
        }
        let rows = self.bytes.chunks_exact(self.dimensions.max(1)).zip(&self.scales);
        // Rounding can exceed 1 slightly.
        Ok(rows
            .map(|(row, row_scale)| (dot_product(row, &vector) as f32 * row_scale * scale).clamp(-1.0, 1.0))
            .collect())
    }

    /// Returns the scales and bytes, for serialization.
    pub(super) fn parts(&self) -> (&[f32], &[i8]) {
        (&self.scales, &self.bytes)
    }

    /// Creates vectors from serialized parts, or returns `None` if they are inconsistent.
    pub(super) fn from_parts(dimensions: usize, scales: Vec<f32>, bytes: Vec<i8>) -> Option<Self> {
        let has_valid_dimensions = (1..=DIMENSIONS_MAX).contains(&dimensions) || scales.is_empty();
        let is_complete = scales.len().checked_mul(dimensions) == Some(bytes.len());
        let has_valid_scales = scales.iter().all(|scale| (0.0..=1.0).contains(scale));
        (has_valid_dimensions && is_complete && has_valid_scales).then_some(Self {
            dimensions,
            scales,
            bytes,
        })
    }

    fn row(&self, index: usize) -> Option<&[i8]> {
        let start = index.checked_mul(self.dimensions)?;
        self.bytes.get(start..start.checked_add(self.dimensions)?)
    }
}

/// Quantizes a vector of length 1, and returns the value of one unit.
fn quantize(vector: &[f32]) -> Result<(Vec<i8>, f32), EmbedError> {
    if !(1..=DIMENSIONS_MAX).contains(&vector.len()) {
        return Err(EmbedError::Length(vector.len()));
    }
    if !vector.iter().all(|number| number.is_finite()) {
        return Err(EmbedError::NotANumber);
    }
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    if largest == 0.0 {
        return Ok((vec![0; vector.len()], 0.0));
    }
    // Scale by the largest number first, so that squares neither overflow nor underflow.
    let scaled = vector.iter().map(|number| f64::from(*number) / f64::from(largest));
    let length = scaled.clone().map(|number| number * number).sum::<f64>().sqrt();
    let bytes = scaled.map(|number| (number * 127.0).round() as i8).collect();
    Ok((bytes, (1.0 / (length * 127.0)) as f32))
}

fn dot_product(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_vectors_are_rejected() {
        let error = |vectors: &[Vec<f32>]| Vectors::new(vectors).unwrap_err();
        assert_eq!(error(&[vec![]]), EmbedError::Length(0));
        assert_eq!(error(&[vec![0.5; DIMENSIONS_MAX + 1]]), EmbedError::Length(DIMENSIONS_MAX + 1));
        assert_eq!(error(&[vec![1.0, f32::NAN]]), EmbedError::NotANumber);
        assert_eq!(error(&[vec![f32::INFINITY]]), EmbedError::NotANumber);
        assert_eq!(error(&[vec![1.0], vec![1.0, 2.0]]), EmbedError::Dimensions { expected: 1, actual: 2 });
        let one = Vectors::new(&[vec![1.0, 2.0]]).unwrap();
        assert_eq!(one.similarities(&[1.0]), Err(EmbedError::Dimensions { expected: 2, actual: 1 }));
        assert_eq!(Vectors::default().similarities(&[1.0]), Ok(vec![]));
    }

    #[test]
    fn zero_vectors_have_no_similarity() {
        let vectors = Vectors::new(&[vec![0.0, 0.0], vec![1e-30, 0.0], vec![1e30, 0.0]]).unwrap();
        assert_eq!(vectors.similarities(&[1.0, 0.0]).unwrap(), [0.0, 1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn similarities_approximate_the_cosine(one in prop::collection::vec(-1e3_f32..1e3, 1..64), seed: u64) {
            let other: Vec<f32> = one.iter().enumerate().map(|(at, number)| {
                number + ((seed.rotate_left(at as u32) % 2001) as f32 - 1000.0)
            }).collect();
            let dot: f64 = one.iter().zip(&other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let length = |all: &[f32]| all.iter().map(|n| f64::from(*n).powi(2)).sum::<f64>().sqrt();
            let exact = dot / (length(&one) * length(&other)).max(f64::MIN_POSITIVE);
            let vectors = Vectors::new(std::slice::from_ref(&one)).unwrap();
            let actual = f64::from(vectors.similarities(&other).unwrap()[0]);
            prop_assert!((actual - exact).abs() < 0.06, "{actual} {exact}");
            prop_assert!((-1.0..=1.0).contains(&actual));
        }
    }
}
