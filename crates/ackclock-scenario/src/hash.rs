//! The canonical hash: equal for scenarios that give equal results.

use xxhash_rust::xxh3::xxh3_128;

use super::schema::Document;

/// The hash of a resolved document, 32 hexadecimal digits. Its name and its seed do not count.
pub fn canonical_hash(document: &Document) -> String {
    let anonymous = Document { name: String::new(), seed: 0, ..document.clone() };
    format!("{:032x}", xxh3_128(anonymous.to_json().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    #[test]
    fn the_spelling_does_not_count() {
        let hash = |duration: &str, rest: &str| {
            let text = format!(
                "schema = 1\nduration = '{duration}'\n[links.a]\nrate = '1 Mbit/s'\n[[flows]]\ncc = 'aimd'\n{rest}"
            );
            Scenario::from_toml::<&str>(&text, "x", &[]).unwrap().hash()
        };
        assert_eq!(hash("1 s", ""), hash("1000 ms", "recovery = 'sack'\ntraffic = { kind = 'bulk' }"));
        assert_ne!(hash("1 s", ""), hash("2 s", ""));
        assert_eq!(hash("1 s", "").len(), 32);
    }
}
