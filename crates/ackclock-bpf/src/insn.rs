//! Instructions of eBPF (RFC 9669).

/// An instruction of 64 bits. `ld_imm64` occupies two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Insn {
    /// Class, operation or mode, and source or size.
    pub code: u8,
    /// The register that gets the result.
    pub dst: u8,
    /// The other register.
    pub src: u8,
    /// A distance of a jump, or from an address.
    pub off: i16,
    /// A constant.
    pub imm: i32,
}

/// `ld_imm64`
pub const LD_IMM64: u8 = 0x18;
/// `call`
pub const CALL: u8 = 0x85;
/// `exit`
pub const EXIT: u8 = 0x95;
/// In `src` of a call: of another function of the program.
pub const PSEUDO_CALL: u8 = 1;
/// In `src` of a call: of a function of the kernel.
pub const PSEUDO_KFUNC_CALL: u8 = 2;
/// In `src` of `ld_imm64`: the address of a value in a map.
pub const PSEUDO_MAP_VALUE: u8 = 2;

impl Insn {
    /// Reads an instruction.
    pub fn decode(bytes: [u8; 8]) -> Insn {
        let [code, registers, o0, o1, i0, i1, i2, i3] = bytes;
        Insn {
            code,
            dst: registers & 0xf,
            src: registers >> 4,
            off: i16::from_le_bytes([o0, o1]),
            imm: i32::from_le_bytes([i0, i1, i2, i3]),
        }
    }

    /// Writes an instruction.
    pub fn encode(self) -> [u8; 8] {
        let ([o0, o1], [i0, i1, i2, i3]) = (self.off.to_le_bytes(), self.imm.to_le_bytes());
        [self.code, self.src << 4 | self.dst, o0, o1, i0, i1, i2, i3]
    }

    /// True for the first half of `ld_imm64`.
    pub fn is_wide(self) -> bool {
        self.code == LD_IMM64
    }

    /// Sets the constant of `ld_imm64`, whose two halves are in `pair`.
    pub fn set_wide(pair: &mut [Insn], value: u64) {
        (pair[0].imm, pair[1].imm) = (value as i32, (value >> 32) as i32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_reads_back() {
        // r6 = *(u64 *)(r1 - 8), and if w3 < w4 goto +258 with all of imm.
        let load = Insn { code: 0x79, dst: 6, src: 1, off: -8, imm: 0 };
        assert_eq!(load.encode(), [0x79, 0x16, 0xf8, 0xff, 0, 0, 0, 0]);
        let jump = Insn { code: 0xae, dst: 3, src: 4, off: 258, imm: -2 };
        assert_eq!(Insn::decode(jump.encode()), jump);
    }
}
