//! The form of the table of keys: [`transport_keys!`] makes the structs and functions of its rows.

/// A row of the table:
///
/// ```text
/// /// Help.
/// name: Type as Held = [default, Profile: default under this profile, ...] range(...) check(...) => Scope;
/// ```
///
/// - `Type` is the type in a file. [`Transport`] holds the value as `Held`, which is `Type` if a row has no `as`.
/// - A profile without a value uses the default.
/// - `range` limits a number in the JSON Schema. `check` limits a quantity, which the schema cannot.
/// - `Scope` names the protocols that read the key.
///
/// Documents contain the keys in the order of the rows, and hashes of scenarios depend on it.
///
/// [`Transport`]: super::Transport
macro_rules! transport_keys {
    (
        $(
            $(#[$help:meta])*
            $name:ident: $type:ident $(as $held:ty)? = [$default:expr $(, $profile:ident: $value:expr)* $(,)?]
            $(range($($range:tt)*))? $(check($check:expr))? => $scope:ident;
        )*
    ) => {
        /// The table `[transport]` of a file.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default)]
        #[schemars(deny_unknown_fields)]
        pub struct TransportKeys {
            $($(#[$help])* $(#[schemars(range($($range)*))])? pub $name: $type,)*
        }

        /// The transport of one flow: every key, with sizes in bytes and windows in segments.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Transport {
            $($(#[$help])* pub $name: held!($type $(as $held)?),)*
            /// Loss recovery.
            pub recovery: LossRecovery,
        }

        impl Default for TransportKeys {
            fn default() -> Self {
                TransportKeys { $($name: $default,)* }
            }
        }

        impl TransportKeys {
            /// Each key with the protocols that read it.
            pub const SCOPES: &[(&str, Scope)] = &[$((stringify!($name), Scope::$scope)),*];

            /// The settings of a connection. Sizes have been checked.
            pub fn transport(&self, recovery: LossRecovery) -> Transport {
                Transport { $($name: self.$name.into(),)* recovery }
            }

            /// Values that their `check` rejects.
            pub(super) fn rejected(&self) -> Vec<(&'static str, Problem)> {
                let mut problems = Vec::new();
                $($(
                    let check: fn($type) -> Result<(), Problem> = $check;
                    problems.extend(check(self.$name).err().map(|problem| (stringify!($name), problem)));
                )?)*
                problems
            }
        }

        impl Profile {
            /// The keys whose defaults differ from the first profile's, with their values as a file has them.
            pub fn settings(self) -> Vec<(&'static str, Json)> {
                let mut settings = Vec::new();
                $($(
                    if self == Profile::$profile {
                        let value: $type = $value;
                        settings.push((stringify!($name), written(&value)));
                    }
                )*)*
                settings
            }

            /// All keys with the defaults of this profile.
            pub fn keys(self) -> TransportKeys {
                let mut keys = TransportKeys { profile: self, ..TransportKeys::default() };
                $($(
                    if self == Profile::$profile {
                        keys.$name = $value;
                    }
                )*)*
                keys
            }
        }
    };
}

/// The type under which [`super::Transport`] holds a value.
macro_rules! held {
    ($type:ident) => {
        $type
    };
    ($type:ident as $held:ty) => {
        $held
    };
}

pub(super) use {held, transport_keys};
