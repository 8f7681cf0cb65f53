//! The JSON Schema of a scenario, generated from the types or stored by a build, and functions that walk it.

use std::sync::OnceLock;

use schemars::JsonSchema;
use serde_json::Value as Json;

#[cfg(not(feature = "stored-schema"))]
use ackclock::transport::{Profile, TransportKeys};

/// The key of the JSON Schema for defaults of the transport that a profile changes.
pub const PROFILES_KEY: &str = "x-profiles";

/// The schema of the document, shorthand included.
pub fn document_schema() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(schema)
}

/// The schema of the build. The code that generates it would add a sixth to the size of the browser module.
#[cfg(feature = "stored-schema")]
fn schema() -> Json {
    serde_json::from_str(include_str!(env!("ACKCLOCK_SCHEMA"))).expect("invariant: the stored schema is JSON")
}

/// The schema of the types.
#[cfg(not(feature = "stored-schema"))]
fn schema() -> Json {
    let mut schema = schemars::schema_for!(super::schema::Document).to_value();
    inherit_transport(&mut schema);
    show_profiles(&mut schema);
    schema
}

/// A flow's transport keys have no defaults of their own.
#[cfg(not(feature = "stored-schema"))]
fn inherit_transport(schema: &mut Json) {
    for (key, _) in TransportKeys::SCOPES {
        if let Some(property) =
            schema.pointer_mut(&format!("/$defs/Flow/properties/{key}")).and_then(Json::as_object_mut)
        {
            property.remove("default");
            if let Some(Json::String(help)) = property.get_mut("description") {
                help.push_str(" By default as in [transport].");
            }
        }
    }
}

/// Adds the values of profiles to the defaults.
#[cfg(not(feature = "stored-schema"))]
fn show_profiles(schema: &mut Json) {
    for (name, profile) in Profile::ALL {
        for (key, value) in profile.settings() {
            schema["$defs"]["TransportKeys"]["properties"][key][PROFILES_KEY][*name] = value;
        }
    }
}

/// The schema of a type that a scenario has in it.
pub fn schema_of<T: JsonSchema>() -> &'static Json {
    let definition = document_schema()["$defs"].get(T::schema_name().as_ref());
    definition.expect("invariant: the document has all types that are listed")
}

/// The schema that a reference names.
pub fn resolve(schema: &Json) -> &Json {
    let mut here = schema;
    while let Some(reference) = here.get("$ref").and_then(Json::as_str) {
        let name = reference.strip_prefix("#/$defs/");
        let target = name.and_then(|name| document_schema().get("$defs")?.get(name));
        here = target.expect("invariant: references name definitions of the schema");
    }
    here
}

/// The alternatives of a schema with resolved references, or the schema itself.
pub fn alternatives(schema: &Json) -> Vec<&Json> {
    let schema = resolve(schema);
    match schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Json::as_array) {
        Some(several) => several.iter().flat_map(alternatives).collect(),
        None => vec![schema],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(schema: &Json, found: &mut Vec<String>) {
        match schema {
            Json::Object(table) => {
                found.extend(table.get("$ref").and_then(Json::as_str).map(str::to_owned));
                table.values().for_each(|value| references(value, found));
            }
            Json::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let mut found = Vec::new();
        references(document_schema(), &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let schema = serde_json::json!({ "$ref": reference });
            assert!(resolve(&schema).is_object());
        }
    }

    #[test]
    fn flows_inherit_the_defaults_of_their_transport() {
        let mss = |place: &str| document_schema().pointer(&format!("/$defs/{place}/properties/mss")).cloned().unwrap();
        assert_eq!(mss("TransportKeys")["default"], "1460 B");
        assert_eq!(mss("Flow").get("default"), None);
    }

    #[test]
    fn profiles_stand_beside_the_defaults() {
        let properties = document_schema().pointer("/$defs/TransportKeys/properties").unwrap();
        assert_eq!(properties["initial_rto"]["default"], "1 s");
        assert_eq!(
            properties["initial_rto"][PROFILES_KEY],
            serde_json::json!({ "ns-2": "3 s", "ns-2-linux": "3 s", "quic": "999 ms", "rtp": "999 ms" })
        );
    }
}
