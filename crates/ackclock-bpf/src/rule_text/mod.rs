//! Compiles rule text to a program for the kernel: `bpf/rule.bpf.c` with the operations of the rule in its table.

mod table;
mod translate;

use ackclock::cc::{CcMistake, RuleText};
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol};

use crate::error::{BpfError, Result, wrong};
use translate::translated;

/// The variable of the program that has the table.
const TABLE: &str = "rule";

/// Makes an object of a rule. `program` is the compiled `bpf/rule.bpf.c`.
///
/// # Errors
/// A mistake in the rule or an unsupported feature, with its place in the text.
pub fn compile_rule(program: &[u8], rule: &RuleText) -> Result<Vec<u8>> {
    let compiled = rule.compiled().map_err(|mistake| match mistake {
        CcMistake::Formula { key, error } => BpfError(format!("{key}: {}", error.in_one_line())),
        other => BpfError(other.to_string()),
    })?;
    let table = translated(rule.source(), compiled)?.bytes();
    let place = place_of_table(program).filter(|place| place.len() == table.len());
    let place = place.ok_or_else(|| wrong!("it is not the program that runs rules"))?;
    let mut object = program.to_vec();
    object[place].copy_from_slice(&table);
    Ok(object)
}

/// Where the table is in the file.
fn place_of_table(program: &[u8]) -> Option<std::ops::Range<usize>> {
    let elf = ElfFile64::<Endianness>::parse(program).ok()?;
    let symbol = elf.symbol_by_name(TABLE)?;
    let (start, size) = elf.section_by_index(symbol.section_index()?).ok()?.file_range()?;
    let first = start.checked_add(symbol.address())?;
    let end = first.checked_add(symbol.size())?;
    let is_there = end <= start.checked_add(size)? && end <= program.len() as u64;
    is_there.then_some(first as usize..end as usize)
}
