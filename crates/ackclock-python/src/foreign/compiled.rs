//! Programs for the kernel (`struct_ops`) as algorithms, and in the running kernel.

use std::path::Path;
use std::sync::Mutex;

use ackclock::cc::{BpfProgram, CcSpec};
use ackclock_bpf::{BpfError, BpfFactory, BpfObject, Form};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::RunError;

/// Objects of this process, by the hash of their content.
static READ: Mutex<Vec<(String, BpfObject)>> = Mutex::new(Vec::new());

fn refused(error: &BpfError) -> PyErr {
    RunError::new_err(error.to_string())
}

/// The object at `path`, whose content is `sha256`.
fn object(path: &str, sha256: &str) -> Result<BpfObject, BpfError> {
    let poisoned = |_| BpfError("another object failed to load".to_owned());
    let mut read = READ.lock().map_err(poisoned)?;
    if let Some((_, found)) = read.iter().find(|(content, _)| content == sha256) {
        return Ok(found.clone());
    }
    let found = BpfObject::read(Path::new(path))?;
    read.push((sha256.to_owned(), found.clone()));
    Ok(found)
}

/// A factory of the congestion control in an object.
pub fn factory(spec: &BpfProgram) -> PyResult<BpfFactory> {
    let make = || {
        let mut object = object(&spec.object, &spec.sha256)?;
        object.set_all(&spec.parameters)?;
        if spec.jit { BpfFactory::native(&object) } else { BpfFactory::new(&object) }
    };
    make().map_err(|error: BpfError| RunError::new_err(format!("{}: {error}", spec.object)))
}

/// A parameter as Python gets it: name, type, default, and range.
type Row = (String, &'static str, f64, f64, f64);

/// The name and the parameters of a compiled congestion control. The simulator must support all that it uses. `jit`
/// also requires machine code for it on this machine.
#[pyfunction]
pub fn describe_bpf(py: Python<'_>, path: &str, sha256: &str, jit: bool) -> PyResult<(String, Vec<Row>)> {
    py.detach(|| {
        let object = object(path, sha256)?;
        ackclock_bpf::try_out(&object)?;
        if jit {
            BpfFactory::native(&object)?;
        }
        let rows = object.variables.iter().map(|variable| {
            let form = match variable.form {
                Form::Fixed => "float",
                Form::Bool => "bool",
                Form::Signed | Form::Unsigned => "int",
            };
            let (low, high) = variable.bounds();
            (variable.name.clone(), form, object.value(variable), low, high)
        });
        Ok((object.choose(None)?.name.clone(), rows.collect()))
    })
    .map_err(|error: BpfError| refused(&error))
}

/// The object of a rule given as text, as the JSON of a table `cc`. `program` is the file with the program that runs
/// rules.
#[pyfunction]
pub fn compile_rule<'py>(py: Python<'py>, program: &str, rule: &str) -> PyResult<Bound<'py, PyBytes>> {
    let spec = serde_json::from_str(rule).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let CcSpec::Rule(rule) = spec else { return Err(PyValueError::new_err("it is not a rule given as text")) };
    let program = ackclock_input::read(Path::new(program), ackclock_input::OBJECT).map_err(|error| {
        RunError::new_err(format!("the program that runs rules ({program}) cannot be read: {error}"))
    })?;
    let object = ackclock_bpf::compile_rule(&program, &rule).map_err(|error| refused(&error))?;
    Ok(PyBytes::new(py, &object))
}

#[cfg(target_os = "linux")]
use ackclock_bpf::kernel::{Link, attach, list, load, unload};

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    //! The error for a system without a kernel to load into.

    use ackclock_bpf::{BpfError, BpfObject};

    /// A link that there is not.
    pub struct Link;

    /// A congestion control of the kernel.
    pub struct Loaded {
        pub name: String,
        pub about: Option<String>,
    }

    fn no_linux<T>() -> Result<T, BpfError> {
        Err(BpfError("only Linux takes congestion controls in its kernel".to_owned()))
    }

    pub fn attach(_: &BpfObject, _: &str, _: &str) -> Result<Link, BpfError> {
        no_linux()
    }

    pub fn load(_: &BpfObject, _: &str, _: &str) -> Result<(), BpfError> {
        no_linux()
    }

    pub fn list() -> Result<Vec<Loaded>, BpfError> {
        no_linux()
    }

    pub fn unload(_: &str) -> Result<(), BpfError> {
        no_linux()
    }
}

#[cfg(not(target_os = "linux"))]
use elsewhere::{Link, attach, list, load, unload};

/// A congestion control that is in the kernel until it is closed, or the process ends.
#[pyclass(module = "ackclock._core", frozen)]
pub struct KernelLink(Mutex<Option<Link>>);

#[pymethods]
impl KernelLink {
    /// Takes it out of the kernel.
    fn close(&self) {
        if let Ok(mut link) = self.0.lock() {
            link.take();
        }
    }
}

/// The object at `path` with these parameters.
fn with_parameters(path: &str, parameters: Vec<(String, f64)>) -> Result<BpfObject, BpfError> {
    let mut object = BpfObject::read(Path::new(path))?;
    for (name, value) in parameters {
        object.set(&name, value)?;
    }
    Ok(object)
}

/// Loads the congestion control of an object into the kernel, under a name, and leaves it there. `about` describes
/// it.
#[pyfunction]
pub fn kernel_load(path: &str, parameters: Vec<(String, f64)>, name: &str, about: &str) -> PyResult<()> {
    with_parameters(path, parameters).and_then(|object| load(&object, name, about)).map_err(|error| refused(&error))
}

/// Loads the congestion control of an object into the kernel until the result is closed or the process ends.
#[pyfunction]
pub fn kernel_attach(path: &str, parameters: Vec<(String, f64)>, name: &str, about: &str) -> PyResult<KernelLink> {
    let link = with_parameters(path, parameters).and_then(|object| attach(&object, name, about));
    Ok(KernelLink(Mutex::new(Some(link.map_err(|error| refused(&error))?))))
}

/// The congestion controls of the kernel, each by name, with the description that ackclock stored.
#[pyfunction]
pub fn kernel_list() -> PyResult<Vec<(String, Option<String>)>> {
    let loaded = list().map_err(|error| refused(&error))?;
    Ok(loaded.into_iter().map(|loaded| (loaded.name, loaded.about)).collect())
}

/// Takes a congestion control that ackclock loaded out of the kernel.
#[pyfunction]
pub fn kernel_unload(name: &str) -> PyResult<()> {
    unload(name).map_err(|error| refused(&error))
}
