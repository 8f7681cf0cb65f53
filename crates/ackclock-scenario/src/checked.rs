//! A checked scenario: how it is read, changed and planned.

use super::mistakes::{Misfit, Misfits, Mistake, ScenarioError};
use super::schema::Document;
use super::sets::Setting;
use super::topology::Network;
use super::traces::ReadFiles;
use super::tree::Node;
use super::{
    compile, conform, foreign, hash, parse, partial, random_inputs, reach, resolve, sets, shorthand, traces, traffic,
    tree, validate, warnings,
};
use ackclock::cc::CcSpec;
use ackclock::quantity::Problem;
use ackclock::rng::RngStreams;
use ackclock::sim::{Drawn, Plan};
use xxhash_rust::xxh3::xxh3_128;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    source: String,
    tree: Node,
    document: Document,
    pub(super) network: Network,
}

/// A scenario whose settings are applied.
struct Applied {
    scenario: Scenario,
    /// The document without the settings, in its full form.
    before: Node,
    after: Node,
    settings: Vec<Setting>,
}

impl Applied {
    fn new<S: AsRef<str>>(
        mut tree: Node,
        source: &str,
        sets: &[S],
        files: Option<&dyn ReadFiles>,
    ) -> Result<Self, ScenarioError> {
        let empty = matches!(&tree.value, tree::Value::Table(entries) if entries.is_empty());
        if empty && sets.is_empty() {
            return Err(Mistake::new(source, tree::Origin::File, String::new(), Problem::Empty).into());
        }
        shorthand::expand(&mut tree);
        let before = tree.clone();
        let (mut settings, mut of_sets) = (Vec::new(), Vec::new());
        for set in sets {
            match sets::apply(&mut tree, set.as_ref()) {
                Ok(setting) => settings.push(setting),
                Err(mistake) => of_sets.push(mistake),
            }
        }
        let scenario = match Scenario::of_full_form(&tree, source, files) {
            Ok(scenario) if of_sets.is_empty() => scenario,
            checked => {
                let place = |(path, problem): Misfit| {
                    let path = written(&tree, path);
                    Mistake::new(source, tree.origin_of(&path), shown(&tree, &path), problem)
                };
                let misfits = checked.err().unwrap_or_default();
                return Err(misfits.into_error(of_sets, place).expect("invariant: there is a mistake"));
            }
        };
        Ok(Applied { scenario, before, after: tree, settings })
    }
}

impl Scenario {
    /// Reads TOML. `source` is the file's name in messages. `sets` are applied in order, as by `--set`.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn from_toml<S: AsRef<str>>(text: &str, source: &str, sets: &[S]) -> Result<Self, ScenarioError> {
        Self::from_tree(parse::toml(text, source)?, source, sets, None)
    }

    /// Reads TOML that may name trace files, whose text comes from `files`.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn from_toml_with<S: AsRef<str>>(
        text: &str,
        source: &str,
        sets: &[S],
        files: &dyn ReadFiles,
    ) -> Result<Self, ScenarioError> {
        Self::from_tree(parse::toml(text, source)?, source, sets, Some(files))
    }

    /// Reads TOML with settings that are known to reach runs, as another cell of a grid has shown. Other readers compile
    /// the scenario once for each setting.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn from_toml_known<S: AsRef<str>>(
        text: &str,
        source: &str,
        sets: &[S],
        files: &dyn ReadFiles,
    ) -> Result<Self, ScenarioError> {
        Applied::new(parse::toml(text, source)?, source, sets, Some(files)).map(|applied| applied.scenario)
    }

    /// Reads the same tree from JSON.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn from_json<S: AsRef<str>>(text: &str, source: &str, sets: &[S]) -> Result<Self, ScenarioError> {
        Self::from_tree(parse::json(text, source)?, source, sets, None)
    }

    /// Reads JSON that may name trace files, whose text comes from `files`.
    ///
    /// # Errors
    /// Every mistake, with its place.
    pub fn from_json_with<S: AsRef<str>>(
        text: &str,
        source: &str,
        sets: &[S],
        files: &dyn ReadFiles,
    ) -> Result<Self, ScenarioError> {
        Self::from_tree(parse::json(text, source)?, source, sets, Some(files))
    }

    /// This scenario with some keys changed.
    ///
    /// # Errors
    /// Every mistake.
    pub fn with_sets<S: AsRef<str>>(&self, sets: &[S]) -> Result<Self, ScenarioError> {
        Self::from_tree(self.tree.clone(), &self.source, sets, None)
    }

    /// This scenario with some keys changed, which may name trace files.
    ///
    /// # Errors
    /// Every mistake.
    pub fn with_sets_and<S: AsRef<str>>(&self, sets: &[S], files: &dyn ReadFiles) -> Result<Self, ScenarioError> {
        Self::from_tree(self.tree.clone(), &self.source, sets, Some(files))
    }

    /// The file that the scenario came from, as messages call it.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn from_tree<S: AsRef<str>>(
        tree: Node,
        source: &str,
        sets: &[S],
        files: Option<&dyn ReadFiles>,
    ) -> Result<Self, ScenarioError> {
        let Applied { scenario, before, after, settings } = Applied::new(tree, source, sets, files)?;
        let plan = |tree: &Node| Self::of_full_form(tree, source, files).ok().map(|scenario| scenario.fingerprint());
        let mistakes = reach::unreached(&before, &after, &settings, &plan);
        Misfits::default().into_error(mistakes, |_| unreachable!("there is no misfit")).map_or(Ok(scenario), Err)
    }

    /// The scenario of a document in its full form.
    fn of_full_form(tree: &Node, source: &str, files: Option<&dyn ReadFiles>) -> Result<Self, Misfits> {
        let mut misfits = conform::conform(tree);
        traffic::check_keys(tree, &mut misfits);
        let full = match files {
            Some(files) => {
                let mut full = traces::read(tree, files, &mut misfits);
                if misfits.is_empty() {
                    foreign::complete(&mut full, files, &mut misfits);
                }
                full
            }
            None => tree.clone(),
        };
        if !misfits.is_empty() {
            misfits.extend_beside(partial::misfits_beside(&full, &misfits));
            return Err(misfits);
        }
        let (document, network) = check(&full)?;
        Ok(Scenario { source: source.to_owned(), tree: full, document, network })
    }

    /// The resolved document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.document.name
    }

    /// The seed of the document.
    pub fn seed(&self) -> u64 {
        self.document.seed
    }

    /// A hash that is equal for scenarios with equal results. Name and seed do not count.
    pub fn hash(&self) -> String {
        hash::canonical_hash(&self.document)
    }

    /// True if replicates differ.
    pub fn is_random(&self) -> bool {
        !random_inputs::random_inputs(&self.document, &self.network).is_empty()
    }

    /// The network that the replicate of a plan drew, or none if all replicates share one.
    pub fn drawn(&self, plan: &Plan) -> Option<Drawn> {
        self.document.replicates.is_some_and(|replicates| replicates.is_random()).then(|| Drawn::of(plan))
    }

    /// The user-supplied algorithms that flows run, each once.
    pub fn foreign(&self) -> Vec<&CcSpec> {
        let mut found: Vec<&CcSpec> = Vec::new();
        for spec in self.document.flows.iter().filter_map(|flow| flow.cc.as_ref()) {
            if spec.is_foreign() && !found.contains(&spec) {
                found.push(spec);
            }
        }
        found
    }

    /// Warnings: properties to check before trusting a result.
    pub fn warnings(&self) -> Vec<String> {
        warnings::warnings(&self.document, &self.network)
    }

    /// The resolved document as JSON, which reads back as the same scenario.
    pub fn resolved_json(&self) -> String {
        self.document.to_json()
    }

    /// The document as it was written, in its full form and with the contents of its files, as JSON.
    ///
    /// The JSON of the document. `transport` contains the keys of all flows, so that settings reach them.
    pub fn written_json(&self) -> String {
        self.tree.to_json().to_string()
    }

    /// A hash that is equal for scenarios with equal compiled plans. Name and seed do not count.
    pub fn fingerprint(&self) -> String {
        let counts: Vec<u32> = self.document.flows.iter().map(|flow| flow.count).collect();
        let plan = self.plan_of_first(1, Some(0), 0);
        format!("{:032x}", xxh3_128(format!("{counts:?} {plan:?}").as_bytes()))
    }

    /// The plan of one replicate, under `seed` or else the seed of the document.
    ///
    /// If nothing is random it is the same for all replicates, including the order of simultaneous events.
    pub fn plan(&self, seed: Option<u64>, replicate: u64) -> Plan {
        self.plan_of_first(u32::MAX, seed, replicate)
    }

    /// The same with the first `most` flows of each group.
    pub(super) fn plan_of_first(&self, most: u32, seed: Option<u64>, replicate: u64) -> Plan {
        let rngs = match self.is_random() {
            true => RngStreams::new(seed.unwrap_or(self.document.seed), replicate),
            false => RngStreams::new(0, 0),
        };
        compile::compile(&self.document, &self.network, rngs, most)
    }
}

/// The document of a tree that conforms to the schema, and its network.
fn check(tree: &Node) -> Result<(Document, Network), Misfits> {
    let document = resolve::resolve(tree).map_err(|message| {
        let mut misfits = Misfits::default();
        misfits.push(Vec::new(), Problem::Internal { message });
        misfits
    })?;
    let network = validate::validate(&document)?;
    Ok((document, network))
}

/// The path of the key that was written: a flow may have a value from `[transport]`.
fn written(tree: &Node, path: Vec<String>) -> Vec<String> {
    if let [flows, index, key] = path.as_slice() {
        let flow = index.parse().ok().and_then(|index: usize| tree.get(flows)?.items().get(index));
        let is_inherited = flow.is_some_and(|flow| flow.get(key).is_none());
        if is_inherited && tree.get("transport").is_some_and(|transport| transport.get(key).is_some()) {
            return vec!["transport".to_owned(), key.clone()];
        }
    }
    path
}

/// A path as one would write it in a `--set`: flows by their names.
fn shown(tree: &Node, path: &[String]) -> String {
    let mut segments = path.to_vec();
    if let [flows, index, ..] = path {
        let flow = index.parse().ok().and_then(|index: usize| tree.get(flows)?.items().get(index));
        let name = flow.and_then(|flow| flow.get("name")).and_then(Node::as_text);
        let is_name = path.get(2).is_some_and(|key| key == "name");
        if let Some(name) = name.filter(|name| !is_name && !name.is_empty()) {
            segments[1] = name.to_owned();
        }
    }
    segments.join(".")
}
