//! Writes the JavaScript, its types and the module that belong to a compiled module: `bindings MODULE.wasm FOLDER`.

use std::env;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let (module, folder) = arguments.next().zip(arguments.next()).context("usage: bindings MODULE.wasm FOLDER")?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name("ackclock").typescript(true).web(true)?;
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder)
}
