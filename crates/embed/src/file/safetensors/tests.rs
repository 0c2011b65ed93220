//! What is a table, and what is refused.

use proptest::prelude::*;

use super::*;

fn file(header: &str, numbers: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(numbers);
    bytes
}

fn wrong(header: &str, numbers: usize) -> SafetensorsError {
    Matrix::of(file(header, &vec![0; numbers])).unwrap_err()
}

#[test]
fn every_kind_of_number() {
    let row = |header: &str, numbers: &[u8]| {
        let matrix = Matrix::of(file(header, numbers)).unwrap();
        let mut sum = vec![0.5; matrix.columns()];
        matrix.add_row(1, &mut sum);
        matrix.add_row(2, &mut sum);
        matrix.add_row(usize::MAX, &mut sum);
        sum
    };
    let shape = |kind: &str, size: usize| {
        format!(
            r#"{{"__metadata__":{{"a":"b"}},"x":{{"dtype":"{kind}","shape":[2,1],"data_offsets":[0,{size}]}}}}"#
        )
    };
    assert_eq!(row(&shape("F32", 8), &[0, 0, 0, 0, 0, 0, 128, 63]), [1.5]);
    assert_eq!(row(&shape("F16", 4), &[0, 0, 0, 0x3c]), [1.5]);
    assert_eq!(row(&shape("BF16", 4), &[0, 0, 0x80, 0x3f]), [1.5]);
}

#[test]
fn what_is_no_table_is_refused() {
    use SafetensorsError::{Cut, Header, Kind, Length, Shape, Tensors};
    let one = |kind: &str, shape: &str, to: &str| {
        format!(r#"{{"x":{{"dtype":"{kind}","shape":{shape},"data_offsets":[0,{to}]}}}}"#)
    };
    assert_eq!(wrong(&one("F32", "[2,2]", "16"), 15), Length);
    assert_eq!(wrong(&one("F32", "[2,2]", "16"), 17), Length);
    assert_eq!(wrong(&one("F32", "[2,2]", "12"), 16), Length);
    assert_eq!(wrong(&one("F32", "[4]", "16"), 16), Shape);
    assert_eq!(wrong(&one("F32", "[1,0]", "0"), 0), Shape);
    assert_eq!(wrong(&one("F32", "[18446744073709551615,8]", "16"), 16), Shape);
    assert_eq!(wrong(&one("F32", "[-1,8]", "16"), 16), Header);
    assert_eq!(wrong(&one("I64", "[2,1]", "16"), 16), Kind);
    assert_eq!(wrong("{}", 0), Tensors(0));
    assert_eq!(wrong("[]", 0), Header);
    assert_eq!(wrong("not JSON", 0), Header);
    let two = r#"{"x":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"y":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#;
    assert_eq!(wrong(two, 8), Tensors(2));
    for bytes in [&b""[..], b"1234567", &u64::MAX.to_le_bytes(), &9u64.to_le_bytes()] {
        assert_eq!(Matrix::of(bytes.to_vec()).unwrap_err(), Cut);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_table_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), length in 0u64..300) {
        let _ = Matrix::of(bytes.clone());
        let mut framed = length.to_le_bytes().to_vec();
        framed.extend(bytes);
        let _ = Matrix::of(framed);
    }

    #[test]
    fn what_was_written_is_read(rows in 1usize..9, columns in 1usize..9, seed: u32) {
        let number = |at: usize| (seed.rotate_left(at as u32) % 1000) as f32 / 7.0;
        let numbers: Vec<f32> = (0..rows * columns).map(number).collect();
        let size = numbers.len() * 4;
        let header = format!(r#"{{"e":{{"dtype":"F32","shape":[{rows},{columns}],"data_offsets":[0,{size}]}}}}"#);
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let matrix = Matrix::of(file(&header, &bytes)).unwrap();
        for (at, wanted) in numbers.chunks(columns).enumerate() {
            let mut row = vec![0.0; columns];
            matrix.add_row(at, &mut row);
            prop_assert_eq!(&row[..], wanted);
        }
    }
}
