use super::*;

use gix_hash::{Kind, hasher};

/// An entry of a pack: its type, its claimed size, the index of its base, and its bytes.
struct Object {
    kind: u8,
    size: u64,
    base: Option<usize>,
    bytes: Vec<u8>,
}

const BLOB: u8 = 3;
const OFFSET_DELTA: u8 = 6;

fn blob(bytes: &[u8]) -> Object {
    Object { kind: BLOB, size: bytes.len() as u64, base: None, bytes: bytes.to_vec() }
}

/// Stores bytes without compression, which suffices for small data.
fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01, 0x01];
    let length = bytes.len() as u16;
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&(!length).to_le_bytes());
    out.extend_from_slice(bytes);
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend_from_slice(&((b << 16) | a).to_be_bytes());
    out
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        out.push(if value == 0 { byte } else { byte | 0x80 });
        if value == 0 {
            return out;
        }
    }
}

fn pack(claimed_count: u32, objects: &[Object]) -> Vec<u8> {
    let mut out = b"PACK\0\0\0\x02".to_vec();
    out.extend_from_slice(&claimed_count.to_be_bytes());
    let mut offsets = Vec::new();
    for object in objects {
        offsets.push(out.len());
        let mut rest = object.size >> 4;
        let more = |rest: u64| if rest > 0 { 0x80 } else { 0 };
        out.push(more(rest) | (object.kind << 4) | (object.size & 15) as u8);
        while rest > 0 {
            out.push(more(rest >> 7) | (rest & 0x7f) as u8);
            rest >>= 7;
        }
        if let Some(base) = object.base {
            let distance = offsets[offsets.len() - 1] - offsets[base];
            assert!(distance < 128, "a longer distance takes two bytes");
            out.push(distance as u8);
        }
        out.extend_from_slice(&zlib(&object.bytes));
    }
    let mut hash = hasher(Kind::Sha1);
    hash.update(&out);
    out.extend_from_slice(hash.try_finalize().unwrap().as_bytes());
    out
}

fn store(pack: &[u8]) -> Result<PathBuf, GitError> {
    let dir = tempfile::tempdir().unwrap();
    store_pack(pack, dir.path(), Kind::Sha1, &Task::default())
}

/// A delta with claimed sizes of its base and its result.
fn delta(base: u64, result: u64, steps: &[u8]) -> Object {
    let bytes = [varint(base), varint(result), steps.to_vec()].concat();
    Object { kind: OFFSET_DELTA, size: bytes.len() as u64, base: Some(0), bytes }
}

#[test]
fn a_valid_pack_is_stored() {
    // Copies the first five bytes.
    let copy = delta(5, 5, &[0b1001_0000, 5]);
    assert!(store(&pack(2, &[blob(b"hello"), copy])).is_ok());
    assert!(store(&pack(0, &[])).is_ok());
}

#[test]
fn damage_is_detected() {
    let good = pack(1, &[blob(b"hello")]);
    let damaged = |pack: &[u8]| assert!(matches!(store(pack), Err(GitError::Damaged { .. })), "{pack:?}");
    damaged(b"");
    damaged(b"not a pack");
    for end in [3, 11, 12, 15, good.len() - 1] {
        damaged(&good[..end]);
    }
    for at in [0, 4, 11, 12, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 0x41;
        damaged(&bad);
    }
    damaged(&pack(1, &[delta(5, 5, &[0b1001_0000, 5])]));
}

#[test]
fn false_sizes_do_not_allocate_memory() {
    let huge = 1 << 50;
    assert!(store(&pack(1, &[Object { size: huge, ..blob(b"hello") }])).is_err());
    assert_eq!(
        store(&pack(2, &[blob(b"hello"), delta(5, huge, &[0b1001_0000, 5])])),
        Err(GitError::UnpackedTooLarge)
    );
    assert!(store(&pack(2, &[blob(b"hello"), delta(huge, 5, &[0b1001_0000, 5])])).is_err());
    assert!(store(&pack(u32::MAX, &[blob(b"hello")])).is_err());
    // Reads beyond the end of the base.
    assert!(store(&pack(2, &[blob(b"hello"), delta(5, 50, &[0b1001_0000, 50])])).is_err());
}

#[test]
fn a_pack_that_unpacks_to_too_much_is_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let store = |all| {
        // Five bytes, repeated ten times.
        let copies = (0..4).map(|_| delta(5, 50, &[0b1001_0000, 5].repeat(10)));
        let objects: Vec<Object> = [blob(b"hello")].into_iter().chain(copies).collect();
        let pack = pack(5, &objects);
        store_pack_within(
            UnpackLimits { total: all, ..UNPACK_LIMITS },
            &*pack,
            dir.path(),
            Kind::Sha1,
            &Task::default(),
        )
    };
    assert_eq!(store(200).map(|_| ()), Err(GitError::UnpackedTooLarge));
    assert!(store(1_000).is_ok());
}

#[test]
fn a_cancelled_task_ends() {
    let task = Task::default();
    task.cancel();
    let dir = tempfile::tempdir().unwrap();
    let error = store_pack(&*pack(1, &[blob(b"hello")]), dir.path(), Kind::Sha1, &task).unwrap_err();
    assert_eq!(error, GitError::Cancelled);
}
