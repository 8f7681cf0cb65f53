//! Algorithms whose code is not here: classes of Python, shared objects, programs for the kernel, and the kernel's own.
//!
//! The core stores the scenario's description of such algorithms, but not the code that runs them. The package that
//! can run the code binds a factory to the plan ([`Plan::bind`](crate::sim::Plan::bind)).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Ack, CcMistake, Congestion, CongestionControl, Departures};

/// The metadata of a kind of user-supplied code.
pub(super) trait Foreign: JsonSchema {
    /// Where its interface is described.
    const REFERENCE: &'static str;

    /// Checks that the code is there.
    ///
    /// # Errors
    /// The key under which it is not.
    fn check(&self) -> Result<(), CcMistake>;

    /// The name that results show.
    fn title(&self) -> String;

    /// The fault of a flow for which no factory is bound.
    fn unbound(&self) -> String {
        format!("{} is user-supplied code, which only the Python package can run", self.title())
    }
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ForeignValue {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A Python class in a file of your own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PythonClass {
    /// File and class, such as "my_cc.py:MyCc". The class may be omitted if the file contains only one.
    pub source: String,
    /// Text of the file. By default it is read from the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Parameters: the fields of the class.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ForeignValue>,
}

/// A shared object with the interface of `ackclock_cc.h`. C and other languages can build one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SharedLibrary {
    /// File, such as "./my_cc.so".
    pub path: String,
    /// SHA-256 of the file. By default it is computed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Parameters: those that the library declares.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ForeignValue>,
}

/// An object of eBPF (`struct_ops`), as Linux takes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct BpfProgram {
    /// File, such as "my_cc.bpf.o".
    pub object: String,
    /// SHA-256 of the file. By default it is computed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Whether to compile the object to machine code, which is faster and checks fewer memory accesses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub jit: bool,
    /// Parameters: the global constants of the object.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ForeignValue>,
}

/// An algorithm of the Linux kernel, by the kernel's name. Only `--backend kernel` and `--backend linux` run it.
///
/// A name alone, as in `cc = "vegas"`, also selects the kernel's own algorithm under such a backend.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct KernelAlgorithm {
    /// Name that the kernel uses, such as "westwood".
    pub name: String,
    /// Parameters of the kernel's module, such as `hystart = 0` for cubic.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ForeignValue>,
}

/// A kernel module with an algorithm, as source in C. Only `--backend kernel` runs it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct KernelModule {
    /// File, such as "tcp_mine.c".
    pub source: String,
    /// Text of the file. By default it is read from the file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Parameters of the module (`module_param`).
    #[serde(flatten)]
    pub parameters: BTreeMap<String, ForeignValue>,
}

/// Characters of the longest name of an algorithm in the kernel (`TCP_CA_NAME_MAX`).
const LONGEST_NAME: usize = 15;

impl Foreign for KernelAlgorithm {
    const REFERENCE: &'static str = "docs/how-to/kernel-in-virtual-time.md: an algorithm of the Linux kernel";

    fn check(&self) -> Result<(), CcMistake> {
        if !is_word(&self.name) || self.name.len() > LONGEST_NAME {
            let message = "takes the kernel's name of an algorithm, of 1 to 15 letters, digits, _ and -".to_owned();
            return Err(CcMistake::Foreign { key: "name".to_owned(), message });
        }
        check_module_parameters(&self.parameters)
    }

    fn title(&self) -> String {
        self.name.clone()
    }

    fn unbound(&self) -> String {
        format!("{} runs in a kernel only; use --backend kernel", self.name)
    }
}

impl Foreign for KernelModule {
    const REFERENCE: &'static str = "docs/how-to/run-a-kernel-module.md: a kernel module of the user";

    fn check(&self) -> Result<(), CcMistake> {
        there("source", &self.code)?;
        check_module_parameters(&self.parameters)
    }

    fn title(&self) -> String {
        file_name(&self.source)
    }

    fn unbound(&self) -> String {
        format!("{} runs in a kernel only; use --backend kernel", self.source)
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// Checks that the kernel's command line can contain the parameters.
fn check_module_parameters(parameters: &BTreeMap<String, ForeignValue>) -> Result<(), CcMistake> {
    let wrong = |key: &str, message: &str| Err(CcMistake::Foreign { key: key.to_owned(), message: message.to_owned() });
    for (key, value) in parameters {
        if !is_word(key) {
            return wrong(key, "takes the name of a module parameter: letters, digits and _");
        }
        let is_number = matches!(value, ForeignValue::Number(_));
        if is_number || matches!(value, ForeignValue::Text(text) if !is_word(text)) {
            return wrong(key, "takes a whole number, true, false or a word");
        }
    }
    Ok(())
}

impl Foreign for PythonClass {
    const REFERENCE: &'static str = "docs/how-to/write-an-algorithm.md: a Python class of the user";

    fn check(&self) -> Result<(), CcMistake> {
        there("source", &self.code)
    }

    fn title(&self) -> String {
        match self.source.rsplit_once(':') {
            Some((_, class)) => class.to_owned(),
            None => file_name(&self.source),
        }
    }
}

impl Foreign for SharedLibrary {
    const REFERENCE: &'static str = "docs/how-to/write-an-algorithm.md: a shared object of the user";

    fn check(&self) -> Result<(), CcMistake> {
        there("path", &self.sha256)
    }

    fn title(&self) -> String {
        file_name(&self.path)
    }
}

impl Foreign for BpfProgram {
    const REFERENCE: &'static str = "docs/how-to/run-in-the-kernel.md: a compiled object of the user";

    fn check(&self) -> Result<(), CcMistake> {
        there("object", &self.sha256)
    }

    fn title(&self) -> String {
        file_name(&self.object)
    }
}

fn there(key: &'static str, content: &str) -> Result<(), CcMistake> {
    if content.is_empty() {
        let message = "only the Python package can read user-supplied code".to_owned();
        return Err(CcMistake::Foreign { key: key.to_owned(), message });
    }
    Ok(())
}

/// The last part of a path, without its suffix.
fn file_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split_once('.').filter(|(stem, _)| !stem.is_empty()).map_or(name, |(stem, _)| stem).to_owned()
}

/// Replaces code without a bound factory, and ends the run with a fault.
#[derive(Debug)]
pub(super) struct Unbound {
    fault: String,
}

impl Unbound {
    pub(super) fn new(fault: String) -> Self {
        Unbound { fault }
    }
}

impl CongestionControl for Unbound {
    fn cwnd(&self) -> f64 {
        f64::NAN
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn fault(&self) -> Option<&str> {
        Some(&self.fault)
    }

    fn departures(&self) -> Departures {
        Departures::None
    }

    fn needs_rate_samples(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _ack: &Ack) {}

    fn on_congestion(&mut self, _congestion: &Congestion) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{CcContext, CcSpec, algorithms, kinds};

    fn spec(json: &str) -> CcSpec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn any_other_key_is_a_parameter_and_the_spec_reads_back() {
        let text =
            r#"{"kind":"python","source":"a/my_cc.py:MyCc","code":"x","eager":true,"gain":2,"name":"y","share":0.5}"#;
        let read = spec(text);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let CcSpec::Python(class) = &read else { panic!("{read:?}") };
        assert_eq!(class.parameters["gain"], ForeignValue::Integer(2));
        assert_eq!(class.parameters["share"], ForeignValue::Number(0.5));
        assert_eq!((read.name(), read.title(), read.is_foreign()), ("python", "MyCc".to_owned(), true));
    }

    #[test]
    fn an_object_is_interpreted_unless_asked_otherwise() {
        let text = r#"{"kind":"bpf","object":"x.bpf.o","jit":true,"gain":2}"#;
        let CcSpec::Bpf(translated) = spec(text) else { panic!("{text}") };
        assert_eq!((translated.jit, translated.parameters.len()), (true, 1));
        assert_eq!(serde_json::to_string(&spec(text)).unwrap(), text);
        let CcSpec::Bpf(interpreted) = spec(r#"{"kind":"bpf","object":"x.bpf.o","jit":false}"#) else { panic!() };
        assert!(!interpreted.jit);
    }

    #[test]
    fn results_show_the_class_or_the_file() {
        assert_eq!(spec(r#"{"kind":"python","source":"a.b/my_cc.py"}"#).title(), "my_cc");
        assert_eq!(spec(r#"{"kind":"library","path":"/x/libgentle.so.1"}"#).title(), "libgentle");
        assert_eq!(spec(r#"{"kind":"library","path":"../.hidden"}"#).title(), ".hidden");
        assert_eq!(spec(r#"{"kind":"bpf","object":"x/my_cc.bpf.o"}"#).title(), "my_cc");
    }

    #[test]
    fn code_that_is_not_there_is_a_mistake_of_its_key() {
        for (text, key) in [
            (r#"{"kind":"python","source":"x.py"}"#, "source"),
            (r#"{"kind":"library","path":"x.so"}"#, "path"),
            (r#"{"kind":"bpf","object":"x.bpf.o"}"#, "object"),
        ] {
            assert_eq!(spec(text).check().unwrap_err().key(), key);
        }
        assert_eq!(spec(r#"{"kind":"library","path":"x.so","sha256":"00"}"#).check(), Ok(()));
    }

    #[test]
    fn code_that_nothing_runs_has_a_fault() {
        let cc = spec(r#"{"kind":"python","source":"x.py:X","code":"y"}"#).build(CcContext::new(2.0));
        assert!(cc.cwnd().is_nan());
        assert!(cc.fault().unwrap().starts_with("X is user-supplied code"));
    }

    #[test]
    fn an_algorithm_of_the_kernel_has_a_name_and_parameters_of_its_module() {
        let text = r#"{"kind":"kernel","name":"cubic","beta":717,"hystart":false}"#;
        let read = spec(text);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!((read.name(), read.title(), read.check()), ("kernel", "cubic".to_owned(), Ok(())));
        let cc = read.build(CcContext::new(2.0));
        assert_eq!(cc.fault(), Some("cubic runs in a kernel only; use --backend kernel"));
        for (text, key) in [
            (r#"{"kind":"kernel","name":""}"#, "name"),
            (r#"{"kind":"kernel","name":"sixteen_letters_"}"#, "name"),
            (r#"{"kind":"kernel","name":"cu bic"}"#, "name"),
            (r#"{"kind":"kernel","name":"cubic","a b":1}"#, "a b"),
            (r#"{"kind":"kernel","name":"cubic","beta":0.5}"#, "beta"),
            (r#"{"kind":"kernel","name":"cubic","beta":"1 x=2"}"#, "beta"),
        ] {
            assert_eq!(spec(text).check().unwrap_err().key(), key, "{text}");
        }
    }

    #[test]
    fn a_kernel_module_needs_its_text() {
        let text = r#"{"kind":"module","source":"a/tcp_mine.c","code":"x","gain":2}"#;
        let read = spec(text);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!((read.title(), read.check()), ("tcp_mine".to_owned(), Ok(())));
        assert_eq!(spec(r#"{"kind":"module","source":"tcp_mine.c"}"#).check().unwrap_err().key(), "source");
    }

    #[test]
    fn a_kind_has_no_default_that_could_be_run() {
        let kinds = kinds();
        let names: Vec<_> = kinds[algorithms().len()..].iter().map(|kind| kind.name).collect();
        assert_eq!(names, ["python", "library", "bpf", "kernel", "module"]);
        for name in names {
            assert_eq!(CcSpec::by_name(name), None);
            assert!(algorithms().iter().all(|info| info.name != name));
        }
    }
}
