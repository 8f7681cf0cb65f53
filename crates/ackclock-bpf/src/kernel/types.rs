//! The types that are loaded with an object. Only the types of its functions are needed.

use crate::btf::{HEADER, MAGIC};
use crate::object_file::Function;

/// Numbers of types: one of whole numbers, and behind it a prototype for each function and the function.
const NUMBER: u32 = 1;
const INT: u32 = 1;
const FUNC: u32 = 12;
const FUNC_PROTO: u32 = 13;
const STATIC: u32 = 0;
const GLOBAL: u32 = 1;
/// Where the names of the number and of all parameters are.
const NUMBER_NAME: u32 = 1;
const PARAMETER_NAME: u32 = 5;
const FIRST_NAMES: [u8; 7] = *b"\0u64\0x\0";

/// Minimal types of an object. The kernel requires types for a table of operations but does not read them, so one
/// type is sufficient.
pub fn none() -> Vec<u8> {
    of_functions(&[]).0
}

/// The types of functions as BTF, and for each function its first instruction and its type. A function that takes
/// whole numbers and is visible to other files is verified once, by itself. The kernel ignores the types of other
/// functions.
pub fn of_functions(functions: &[Function]) -> (Vec<u8>, Vec<[u32; 2]>) {
    let mut types = vec![NUMBER_NAME, INT << 24, 8, 64];
    let mut names = FIRST_NAMES.to_vec();
    let mut rows = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        let prototype = NUMBER + 1 + 2 * index as u32;
        let taken = function.numbers_taken.unwrap_or(0);
        types.extend([0, FUNC_PROTO << 24 | taken as u32, NUMBER]);
        types.extend([PARAMETER_NAME, NUMBER].repeat(taken));
        let linkage = if function.numbers_taken.is_some() { GLOBAL } else { STATIC };
        types.extend([names.len() as u32, FUNC << 24 | linkage, prototype]);
        names.extend(function.name.bytes().chain([0]));
        rows.push([function.start as u32, prototype + 1]);
    }
    let mut data = MAGIC.to_ne_bytes().to_vec();
    data.extend([1, 0]);
    let size = 4 * types.len();
    for word in [HEADER, 0, size, size, names.len()] {
        data.extend((word as u32).to_ne_bytes());
    }
    data.extend(types.iter().flat_map(|word| word.to_ne_bytes()));
    data.extend(names);
    (data, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btf::{Btf, Kind};

    #[test]
    fn functions_have_names_and_those_that_are_global_their_parameters() {
        let function = |name: &str, start, numbers_taken| Function { name: name.to_owned(), start, numbers_taken };
        let (data, rows) = of_functions(&[function("main", 0, None), function("add", 7, Some(2))]);
        let btf = Btf::parse(&data).unwrap();
        let add = btf.find(Kind::Func, "add").unwrap();
        assert_eq!(rows, [[0, btf.find(Kind::Func, "main").unwrap()], [7, add]]);
        assert_eq!((btf.numbers_taken("add"), btf.numbers_taken("main")), (Some(2), None));
        assert_eq!((btf.len(), btf.kind(btf.refers_to(add))), (6, Kind::FuncProto));
        assert_eq!(Btf::parse(&none()).unwrap().len(), 2);
    }
}
