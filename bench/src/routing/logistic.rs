//! Logistic regression with Newton's method.

use prowess_routing::EVIDENCE;

/// The weights of all kinds of evidence, and the bias.
pub(crate) type Weights = [f64; EVIDENCE + 1];

const STEPS: usize = 30;
const REGULARIZATION: f64 = 1.0;

pub(crate) struct Example {
    pub(crate) evidence: [f64; EVIDENCE],
    pub(crate) is_right: bool,
    pub(crate) weight: f64,
}

pub(crate) fn probability(evidence: &[f64; EVIDENCE], weights: &Weights) -> f64 {
    let sum: f64 = evidence.iter().zip(weights).map(|(value, weight)| value * weight).sum();
    1.0 / (1.0 + (-(sum + weights[EVIDENCE])).exp())
}

/// Returns the weights with the highest likelihood, minus a penalty for large weights.
pub(crate) fn fit(examples: &[Example]) -> Weights {
    let mut weights = [0.0; EVIDENCE + 1];
    for _ in 0..STEPS {
        let mut gradient = [0.0; EVIDENCE + 1];
        let mut hessian = [[0.0; EVIDENCE + 1]; EVIDENCE + 1];
        for index in 0..EVIDENCE {
            gradient[index] = REGULARIZATION * weights[index];
            hessian[index][index] = REGULARIZATION;
        }
        for Example { evidence, is_right, weight } in examples {
            let probability = probability(evidence, &weights);
            let error = weight * (probability - f64::from(u8::from(*is_right)));
            let curvature = weight * probability * (1.0 - probability);
            let value = |index: usize| evidence.get(index).copied().unwrap_or(1.0);
            for row in 0..=EVIDENCE {
                gradient[row] += error * value(row);
                for (column, entry) in hessian[row].iter_mut().enumerate() {
                    *entry += curvature * value(row) * value(column);
                }
            }
        }
        let step = solve(hessian, gradient);
        weights.iter_mut().zip(step).for_each(|(weight, step)| *weight -= step);
    }
    weights
}

/// Solves a system of linear equations with a positive definite matrix by elimination.
fn solve(mut matrix: [[f64; EVIDENCE + 1]; EVIDENCE + 1], mut right: Weights) -> Weights {
    for pivot in 0..=EVIDENCE {
        for row in pivot + 1..=EVIDENCE {
            let pivot_row = matrix[pivot];
            let factor = matrix[row][pivot] / pivot_row[pivot];
            matrix[row].iter_mut().zip(pivot_row).for_each(|(entry, above)| *entry -= factor * above);
            right[row] -= factor * right[pivot];
        }
    }
    let mut solution = [0.0; EVIDENCE + 1];
    for row in (0..=EVIDENCE).rev() {
        let known: f64 = (row + 1..=EVIDENCE).map(|column| matrix[row][column] * solution[column]).sum();
        solution[row] = (right[row] - known) / matrix[row][row];
    }
    solution
}
