//! BTF, the kernel's format for types: as objects carry it, and the running kernel in `/sys/kernel/btf/vmlinux`.
//!
//! Reference: the kernel's documentation, `Documentation/bpf/btf.rst`.

use ackclock_input::NAME;

use crate::error::{Result, wrong};

/// How BTF begins.
pub(crate) const MAGIC: u16 = 0xeb9f;
/// Bytes of its header.
pub(crate) const HEADER: usize = 24;
/// Typedefs of typedefs, and arrays of arrays, that are followed.
const DEEPEST: u32 = 32;

/// A kind of type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Kind {
    Void,
    Int,
    Ptr,
    Array,
    Struct,
    Union,
    Enum,
    Fwd,
    Typedef,
    Volatile,
    Const,
    Restrict,
    Func,
    FuncProto,
    Var,
    Datasec,
    Float,
    DeclTag,
    TypeTag,
    Enum64,
}

impl Kind {
    const ALL: [Kind; 20] = [
        Kind::Void,
        Kind::Int,
        Kind::Ptr,
        Kind::Array,
        Kind::Struct,
        Kind::Union,
        Kind::Enum,
        Kind::Fwd,
        Kind::Typedef,
        Kind::Volatile,
        Kind::Const,
        Kind::Restrict,
        Kind::Func,
        Kind::FuncProto,
        Kind::Var,
        Kind::Datasec,
        Kind::Float,
        Kind::DeclTag,
        Kind::TypeTag,
        Kind::Enum64,
    ];

    /// Bytes after the common part of a type with `vlen` parts.
    fn tail(self, vlen: usize) -> usize {
        match self {
            Kind::Int | Kind::Var | Kind::DeclTag => 4,
            Kind::Array => 12,
            Kind::Struct | Kind::Union | Kind::Datasec | Kind::Enum64 => 12 * vlen,
            Kind::Enum | Kind::FuncProto => 8 * vlen,
            _ => 0,
        }
    }
}

/// A member of a struct or union.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The name, empty for an anonymous struct or union.
    pub name: &'a str,
    /// Its type.
    pub ty: u32,
    /// Where it begins.
    pub bit_offset: u32,
    /// The bits of a bit field, or 0 for another member.
    pub bits: u32,
}

/// The types of an object or of the kernel, by number.
#[derive(Clone, Debug)]
pub struct Btf {
    types: Vec<u8>,
    strings: Vec<u8>,
    /// The place of each type. Number 0 is void, and its place is unused.
    places: Vec<u32>,
}

impl Btf {
    /// Reads BTF.
    ///
    /// # Errors
    /// Data of another format.
    pub fn parse(data: &[u8]) -> Result<Btf> {
        let broken = || wrong!("its BTF cannot be read");
        let word = |at: usize| read_u32(data, at).ok_or_else(broken);
        if data.get(..2) != Some(&MAGIC.to_le_bytes()) || data.len() < HEADER {
            return Err(broken());
        }
        let header = word(4)? as usize;
        let part = |offset: u32, len: u32| {
            let start = header.checked_add(offset as usize)?;
            data.get(start..start.checked_add(len as usize)?).map(<[u8]>::to_vec)
        };
        let types = part(word(8)?, word(12)?).ok_or_else(broken)?;
        let strings = part(word(16)?, word(20)?).ok_or_else(broken)?;
        let mut btf = Btf { types, strings, places: vec![0] };
        let mut at = 0;
        while at < btf.types.len() {
            let info = read_u32(&btf.types, at + 4).ok_or_else(broken)?;
            let kind = Kind::ALL.get(info as usize >> 24 & 0x1f).ok_or_else(broken)?;
            btf.places.push(at as u32);
            at += 12 + kind.tail(info as usize & 0xffff);
        }
        if at == btf.types.len() { Ok(btf) } else { Err(broken()) }
    }

    /// The number of types, with void.
    pub fn len(&self) -> u32 {
        self.places.len() as u32
    }

    /// True if there is no type but void.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    fn word(&self, ty: u32, index: usize) -> u32 {
        let place = self.places.get(ty as usize).filter(|_| ty != 0);
        place.and_then(|place| read_u32(&self.types, *place as usize + 4 * index)).unwrap_or(0)
    }

    /// The kind of a type.
    pub fn kind(&self, ty: u32) -> Kind {
        Kind::ALL.get(self.word(ty, 1) as usize >> 24 & 0x1f).copied().unwrap_or(Kind::Void)
    }

    fn vlen(&self, ty: u32) -> usize {
        self.word(ty, 1) as usize & 0xffff
    }

    /// A string by its place. It is empty if it does not exist or is longer than the kernel accepts.
    pub fn string(&self, at: u32) -> &str {
        let text = self.strings.get(at as usize..).unwrap_or_default();
        let text = text.get(..NAME).unwrap_or(text);
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
        std::str::from_utf8(&text[..end]).unwrap_or_default()
    }

    /// The name of a type.
    pub fn name(&self, ty: u32) -> &str {
        self.string(self.word(ty, 0))
    }

    /// The type that a pointer, typedef, modifier, variable, function or tag refers to, or the size of another type.
    pub fn refers_to(&self, ty: u32) -> u32 {
        self.word(ty, 2)
    }

    /// The first type with a kind and a name.
    pub fn find(&self, kind: Kind, name: &str) -> Option<u32> {
        // The kernel has more than a hundred thousand types.
        let is_called = |ty: u32| {
            let text = self.strings.get(self.word(ty, 0) as usize..).unwrap_or_default();
            text.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
        };
        (1..self.len()).find(|ty| self.kind(*ty) == kind && is_called(*ty))
    }

    /// The type below typedefs, `const` and the like.
    pub fn plain(&self, mut ty: u32) -> u32 {
        for _ in 0..DEEPEST {
            match self.kind(ty) {
                Kind::Typedef | Kind::Volatile | Kind::Const | Kind::Restrict | Kind::TypeTag => {
                    ty = self.refers_to(ty);
                }
                _ => break,
            }
        }
        ty
    }

    /// The size of a type in bytes.
    pub fn size(&self, ty: u32) -> u32 {
        let (mut ty, mut count) = (self.plain(ty), 1_u32);
        for _ in 0..DEEPEST {
            if self.kind(ty) == Kind::Array {
                let (element, elements) = self.array(ty);
                (ty, count) = (self.plain(element), count.saturating_mul(elements));
            }
        }
        count.saturating_mul(self.size_of_one(ty))
    }

    fn size_of_one(&self, ty: u32) -> u32 {
        match self.kind(ty) {
            Kind::Ptr => 8,
            Kind::Int | Kind::Struct | Kind::Union | Kind::Enum | Kind::Enum64 | Kind::Datasec | Kind::Float => {
                self.refers_to(ty)
            }
            _ => 0,
        }
    }

    /// True for an integer with a sign.
    pub fn is_signed(&self, ty: u32) -> bool {
        let ty = self.plain(ty);
        self.kind(ty) == Kind::Int && self.word(ty, 3) >> 24 & 1 == 1
    }

    /// True for an integer that is a truth value.
    pub fn is_bool(&self, ty: u32) -> bool {
        let ty = self.plain(ty);
        self.kind(ty) == Kind::Int && self.word(ty, 3) >> 24 & 4 == 4
    }

    /// The type of the elements of an array, and their number.
    pub fn array(&self, ty: u32) -> (u32, u32) {
        (self.word(ty, 3), self.word(ty, 5))
    }

    /// The members of a struct or union.
    pub fn members(&self, ty: u32) -> impl Iterator<Item = Member<'_>> {
        (0..).map_while(move |index| self.member_at(ty, index))
    }

    /// A member of a struct or union by its number.
    pub fn member_at(&self, ty: u32, index: usize) -> Option<Member<'_>> {
        let has_members = matches!(self.kind(ty), Kind::Struct | Kind::Union);
        if !has_members || index >= self.vlen(ty) {
            return None;
        }
        let at = 3 + 3 * index;
        let place = self.word(ty, at + 2);
        let has_bits = self.word(ty, 1) >> 31 == 1;
        let (bits, bit_offset) = if has_bits { (place >> 24, place & 0x00ff_ffff) } else { (0, place) };
        Some(Member { name: self.string(self.word(ty, at)), ty: self.word(ty, at + 1), bit_offset, bits })
    }

    /// The variables of a section: type, offset and size.
    pub fn variables(&self, datasec: u32) -> impl Iterator<Item = (u32, u32, u32)> {
        let count = if self.kind(datasec) == Kind::Datasec { self.vlen(datasec) } else { 0 };
        (0..count).map(move |index| {
            let at = 3 + 3 * index;
            (self.word(datasec, at), self.word(datasec, at + 1), self.word(datasec, at + 2))
        })
    }

    /// The number of parameters of a function that other files can see, if it takes and returns whole numbers only.
    pub fn numbers_taken(&self, function: &str) -> Option<usize> {
        const GLOBAL: usize = 1;
        let function = self.find(Kind::Func, function).filter(|function| self.vlen(*function) == GLOBAL)?;
        let prototype = self.refers_to(function);
        let is_number = |ty: u32| self.kind(self.plain(ty)) == Kind::Int;
        let taken = self.vlen(prototype);
        let takes_numbers = (0..taken).all(|index| is_number(self.word(prototype, 4 + 2 * index)));
        (takes_numbers && is_number(self.refers_to(prototype))).then_some(taken)
    }

    /// True for a variable that other files can see.
    pub fn is_global(&self, variable: u32) -> bool {
        self.word(variable, 3) == 1
    }

    /// The texts that the source attached to a declaration.
    pub fn tags(&self, of: u32) -> impl Iterator<Item = &str> {
        (1..self.len())
            .filter(move |ty| self.kind(*ty) == Kind::DeclTag && self.refers_to(*ty) == of)
            .map(|ty| self.name(ty))
    }

    /// The enumerators of an enum: name and value.
    pub fn enumerators(&self, ty: u32) -> impl Iterator<Item = (&str, u64)> {
        let words = match self.kind(ty) {
            Kind::Enum => 2,
            Kind::Enum64 => 3,
            _ => 0,
        };
        (0..if words == 0 { 0 } else { self.vlen(ty) }).map(move |index| {
            let at = 3 + words * index;
            let low = self.word(ty, at + 1);
            let value = if words == 3 {
                u64::from(self.word(ty, at + 2)) << 32 | u64::from(low)
            } else {
                i64::from(low as i32) as u64
            };
            (self.string(self.word(ty, at)), value)
        })
    }
}

/// A word of little-endian data.
pub(crate) fn read_u32(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(data.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An int, a struct with a bit field, and a typedef of it.
    fn sample() -> Vec<u8> {
        let strings = b"\0int\0pair\0low\0high\0alias\0";
        let types: [u32; 17] = [
            1,
            1 << 24,
            4,
            1 << 24 | 32, // int, signed, of 32 bits
            5,
            1 << 31 | 4 << 24 | 2,
            8, // struct pair, with sizes of bit fields
            10,
            1,
            0, // low at bit 0
            14,
            1,
            3 << 24 | 35, // high: 3 bits from bit 35
            19,
            8 << 24,
            2, // typedef alias
            0,
        ];
        let types: Vec<u8> = types[..16].iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut data = MAGIC.to_le_bytes().to_vec();
        data.extend([1, 0]);
        for word in [24, 0, types.len() as u32, types.len() as u32, strings.len() as u32] {
            data.extend(word.to_le_bytes());
        }
        data.extend(types);
        data.extend(strings);
        data
    }

    #[test]
    fn types_are_read_with_their_members_and_bit_fields() {
        let btf = Btf::parse(&sample()).unwrap();
        let pair = btf.find(Kind::Struct, "pair").unwrap();
        assert_eq!((btf.len(), pair, btf.size(3), btf.plain(3)), (4, 2, 8, 2));
        let members: Vec<_> = btf.members(pair).map(|member| (member.name, member.bit_offset, member.bits)).collect();
        assert_eq!(members, [("low", 0, 0), ("high", 35, 3)]);
        assert!(btf.is_signed(1) && !btf.is_bool(1));
        assert_eq!((btf.kind(99), btf.name(99), btf.size(0)), (Kind::Void, "", 0));
    }

    #[test]
    fn what_is_no_btf_or_ends_early_is_refused() {
        let whole = sample();
        for cut in [0, 3, 23, whole.len() - 1] {
            assert!(Btf::parse(&whole[..cut]).is_err(), "{cut}");
        }
    }
}
