//! The canonical hash: equal for scenarios that give equal results.

use xxhash_rust::xxh3::xxh3_128;

use super::schema::Document;

/// The hash of a resolved document, 32 hexadecimal digits. Its name and its seed do not count.
pub fn canonical_hash(document: &Document) -> String {
    let anonymous = Document { name: String::new(), seed: 0, ..document.clone() };
    format!("{:032x}", xxh3_128(anonymous.to_json().as_bytes()))
}
