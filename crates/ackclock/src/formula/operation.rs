//! The operations of formulas.

/// The kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Code {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Negate,
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    Min,
    Max,
    If,
    Exp,
    Log,
    Sqrt,
    Cbrt,
    Abs,
    Floor,
    /// Writes a state. The value must be finite.
    Set,
}

/// An operation on registers.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The kind.
    pub code: Code,
    /// The register of its result.
    pub to: u16,
    /// The registers of its operands. Unused operands repeat a used register.
    pub operands: [u16; 3],
}

/// The functions with their smallest number of operands. [`Code::Min`] and [`Code::Max`] accept more.
pub const FUNCTIONS: [(&str, Code, usize); 10] = [
    ("min", Code::Min, 2),
    ("max", Code::Max, 2),
    ("pow", Code::Power, 2),
    ("exp", Code::Exp, 1),
    ("log", Code::Log, 1),
    ("sqrt", Code::Sqrt, 1),
    ("cbrt", Code::Cbrt, 1),
    ("abs", Code::Abs, 1),
    ("floor", Code::Floor, 1),
    ("if", Code::If, 3),
];

impl Code {
    /// The value of an operation. Unused operands are not evaluated.
    #[inline(always)]
    pub fn apply(self, a: f64, b: impl FnOnce() -> f64, c: impl FnOnce() -> f64) -> f64 {
        let is_true = |value: f64| value != 0.0;
        match self {
            Code::Add => a + b(),
            Code::Subtract => a - b(),
            Code::Multiply => a * b(),
            Code::Divide => a / b(),
            Code::Power => libm::pow(a, b()),
            Code::Negate => -a,
            Code::Less => f64::from(a < b()),
            Code::LessOrEqual => f64::from(a <= b()),
            Code::Equal => f64::from(a == b()),
            Code::NotEqual => f64::from(a != b()),
            Code::And => f64::from(is_true(a) && is_true(b())),
            Code::Or => f64::from(is_true(a) || is_true(b())),
            Code::Not => f64::from(!is_true(a)),
            Code::Min => a.min(b()),
            Code::Max => a.max(b()),
            Code::If => {
                if is_true(a) {
                    b()
                } else {
                    c()
                }
            }
            Code::Exp => libm::exp(a),
            Code::Log => libm::log(a),
            Code::Sqrt => a.sqrt(),
            Code::Cbrt => libm::cbrt(a),
            Code::Abs => a.abs(),
            Code::Floor => a.floor(),
            Code::Set => a,
        }
    }

    /// The operands that it takes.
    pub fn operands(self) -> usize {
        match self {
            Code::If => 3,
            Code::Negate | Code::Not | Code::Set => 1,
            Code::Exp | Code::Log | Code::Sqrt | Code::Cbrt | Code::Abs | Code::Floor => 1,
            _ => 2,
        }
    }

    /// Why its result is not finite although its operands are.
    pub fn why_not_finite(self, b: f64) -> &'static str {
        match self {
            Code::Divide if b == 0.0 => "divides by zero",
            Code::Log => "is the logarithm of a number that is not above 0",
            Code::Sqrt => "is the square root of a negative number",
            Code::Power => "is too large, or a broken power of a negative number",
            _ => "is too large",
        }
    }
}
