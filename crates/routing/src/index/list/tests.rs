use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn write_to_memory(postings: &BTreeMap<u32, u8>) -> (SegmentSource, ListLocation) {
    let list: Vec<_> = postings.iter().map(|(skill, impact)| (*skill, *impact)).collect();
    let mut bytes = Vec::new();
    write_list(&list, &mut bytes);
    let location = ListLocation { start: 0, length: bytes.len() as u32, count: list.len() as u32 };
    (SegmentSource::Memory(bytes), location)
}

proptest! {
    #[test]
    fn lists_round_trip(
        postings in prop::collection::btree_map(0u32..5000, any::<u8>(), 0..700), window in 50u32..3000,
    ) {
        let (source, location) = write_to_memory(&postings);
        let mut read = BTreeMap::new();
        let mut list = PostingList::open(&source, location).unwrap();
        for from in (0..5000).step_by(window as usize) {
            let to = from + window;
            let (largest, count) = list.upper_bound(from, to).unwrap();
            let mut count_read = 0;
            list.scan(from, to, |skill, impact| {
                count_read += 1;
                assert!(impact <= largest && (from..to).contains(&skill));
                read.insert(skill, impact);
            }).unwrap();
            prop_assert!(count_read <= count);
        }
        prop_assert_eq!(&read, &postings);
        list.rewind();
        let mut again = 0;
        list.scan(0, 5000, |_, _| again += 1).unwrap();
        prop_assert_eq!(again, postings.len());
    }

    #[test]
    fn lookups_find_the_same_as_scanning(
        postings in prop::collection::btree_map(0u32..5000, any::<u8>(), 0..700),
        wanted in prop::collection::btree_set(0u32..5000, 0..60),
    ) {
        let (source, location) = write_to_memory(&postings);
        let wanted: Vec<u32> = wanted.into_iter().collect();
        let mut list = PostingList::open(&source, location).unwrap();
        let found: Vec<_> = wanted
            .iter()
            .filter_map(|skill| Some((*skill, list.impact(*skill).unwrap()?)))
            .collect();
        let expected: Vec<_> =
            wanted.iter().filter_map(|skill| Some((*skill, *postings.get(skill)?))).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_bytes_are_read_or_rejected(
        bytes in prop::collection::vec(any::<u8>(), 0..600), count in 0u32..2000, wanted in any::<[u32; 3]>(),
    ) {
        let mut wanted = wanted;
        wanted.sort_unstable();
        let location = ListLocation { start: 0, length: bytes.len() as u32, count };
        let source = SegmentSource::Memory(bytes);
        let mut max = 0;
        if let Ok(mut list) = PostingList::open(&source, location) {
            let _ = (list.upper_bound(0, 50), list.scan(0, 50, |skill, _| max = max.max(skill)));
            let _ = (list.upper_bound(50, 100), list.scan(50, 100, |skill, _| max = max.max(skill)));
            list.rewind();
            let _ = wanted.map(|skill| list.impact(skill));
        }
        prop_assert!(max < 100);
    }
}
