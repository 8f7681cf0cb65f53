//! Tables with a `kind`, and the name of one that stands for a table with nothing else.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value as Json;

/// The key of the JSON Schema that marks a place where shorthand may stand.
pub const SHORTHAND_KEY: &str = "x-shorthand";

/// The schema of a `T` with a `kind`, or of its name alone.
pub struct Shorthand<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Shorthand<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{} or its name", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let full = generator.subschema_for::<T>();
        let schema = T::json_schema(generator);
        let kinds = kinds(schema.as_value()).into_iter();
        let names: Vec<Json> = kinds.filter(|kind| kind.needs_nothing()).map(|kind| Json::from(kind.name)).collect();
        json_schema!({ "anyOf": [{ "type": "string", "enum": names }, full], (SHORTHAND_KEY): true })
    }
}

/// One alternative of a schema whose tables have a `kind`.
pub struct Kind<'a> {
    /// The value of `kind`.
    pub name: &'a str,
    /// The schema of the alternative.
    pub schema: &'a Json,
}

impl Kind<'_> {
    /// True if no key but `kind` must be given.
    pub fn needs_nothing(&self) -> bool {
        self.schema.get("required").and_then(Json::as_array).map_or(0, Vec::len) <= 1
    }
}

/// The kind that a schema is about, if its tables have one.
pub fn kind(schema: &Json) -> Option<Kind<'_>> {
    // A JSON pointer would allocate, and a scenario asks this of each algorithm for each flow.
    let name = schema.get("properties")?.get("kind")?.get("const")?.as_str()?;
    Some(Kind { name, schema })
}

/// The kinds among the direct alternatives of a schema.
pub fn kinds(schema: &Json) -> Vec<Kind<'_>> {
    schema.get("oneOf").and_then(Json::as_array).into_iter().flatten().filter_map(kind).collect()
}
