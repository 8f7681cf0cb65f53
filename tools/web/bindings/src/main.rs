//! Writes the JavaScript, its types and the module that belong to a compiled module: `bindings MODULE.wasm FOLDER NAME`.

use std::env;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let [Some(module), Some(folder), Some(name)] = [arguments.next(), arguments.next(), arguments.next()] else {
        bail!("usage: bindings MODULE.wasm FOLDER NAME");
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(&name).typescript(true).web(true)?;
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder)
}
