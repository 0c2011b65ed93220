use super::*;

use gix_hash::{Kind, hasher};

/// An entry of a pack: its type, the size that it claims, what stands before its bytes, and those.
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

/// Stored without compression, which takes no library: enough for what is small.
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

fn pack(claimed: u32, objects: &[Object]) -> Vec<u8> {
    let mut out = b"PACK\0\0\0\x02".to_vec();
    out.extend_from_slice(&claimed.to_be_bytes());
    let mut begins = Vec::new();
    for object in objects {
        begins.push(out.len());
        let mut rest = object.size >> 4;
        let more = |rest: u64| if rest > 0 { 0x80 } else { 0 };
        out.push(more(rest) | (object.kind << 4) | (object.size & 15) as u8);
        while rest > 0 {
            out.push(more(rest >> 7) | (rest & 0x7f) as u8);
            rest >>= 7;
        }
        if let Some(base) = object.base {
            let back = begins[begins.len() - 1] - begins[base];
            assert!(back < 128, "a longer way back takes two bytes");
            out.push(back as u8);
        }
        out.extend_from_slice(&zlib(&object.bytes));
    }
    let mut hash = hasher(Kind::Sha1);
    hash.update(&out);
    out.extend_from_slice(hash.try_finalize().unwrap().as_bytes());
    out
}

fn kept(pack: &[u8]) -> Result<PathBuf, GitError> {
    let folder = tempfile::tempdir().unwrap();
    keep(pack, folder.path(), Kind::Sha1, &Work::default())
}

/// A delta that claims sizes for what it is of and what it makes.
fn delta(base: u64, result: u64, steps: &[u8]) -> Object {
    let bytes = [varint(base), varint(result), steps.to_vec()].concat();
    Object { kind: OFFSET_DELTA, size: bytes.len() as u64, base: Some(0), bytes }
}

#[test]
fn a_good_pack_is_kept() {
    // Copies the first five bytes.
    let copy = delta(5, 5, &[0b1001_0000, 5]);
    assert!(kept(&pack(2, &[blob(b"hello"), copy])).is_ok());
    assert!(kept(&pack(0, &[])).is_ok());
}

#[test]
fn damage_is_found() {
    let good = pack(1, &[blob(b"hello")]);
    let damaged = |pack: &[u8]| assert!(matches!(kept(pack), Err(GitError::Damaged { .. })), "{pack:?}");
    damaged(b"");
    damaged(b"nothing like a pack");
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
fn what_lies_about_its_size_takes_no_memory() {
    let huge = 1 << 50;
    assert!(kept(&pack(1, &[Object { size: huge, ..blob(b"hello") }])).is_err());
    assert_eq!(kept(&pack(2, &[blob(b"hello"), delta(5, huge, &[0b1001_0000, 5])])), Err(GitError::Unpacked));
    assert!(kept(&pack(2, &[blob(b"hello"), delta(huge, 5, &[0b1001_0000, 5])])).is_err());
    assert!(kept(&pack(u32::MAX, &[blob(b"hello")])).is_err());
    // Reads beyond what it is of.
    assert!(kept(&pack(2, &[blob(b"hello"), delta(5, 50, &[0b1001_0000, 50])])).is_err());
}

#[test]
fn what_unpacks_to_too_much_in_all_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let kept = |all| {
        // Five bytes, and ten times the same five.
        let copies = (0..4).map(|_| delta(5, 50, &[0b1001_0000, 5].repeat(10)));
        let objects: Vec<Object> = [blob(b"hello")].into_iter().chain(copies).collect();
        let pack = pack(5, &objects);
        keep_within(Bounds { all, ..BOUNDS }, &*pack, folder.path(), Kind::Sha1, &Work::default())
    };
    assert_eq!(kept(200).map(|_| ()), Err(GitError::Unpacked));
    assert!(kept(1_000).is_ok());
}

#[test]
fn a_cancelled_work_ends() {
    let work = Work::default();
    work.cancel();
    let folder = tempfile::tempdir().unwrap();
    let error = keep(&*pack(1, &[blob(b"hello")]), folder.path(), Kind::Sha1, &work).unwrap_err();
    assert_eq!(error, GitError::Cancelled);
}
