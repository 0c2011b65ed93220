//! Enums whose values have a stable name.

/// Defines an enum whose values have a name: in JSON, in configuration files or in messages.
///
/// ```
/// prowess_format::named_enum! {
///     /// A colour.
///     #[derive(Debug, Clone, Copy, PartialEq, Eq)]
///     pub enum Colour {
///         /// Like grass.
///         Green = "green",
///         /// Like the sky.
///         Blue = "light-blue",
///     }
/// }
/// assert_eq!(Colour::Blue.as_str(), "light-blue");
/// assert_eq!(Colour::ALL.map(|colour| colour.to_string()), ["green", "light-blue"]);
/// ```
#[macro_export]
macro_rules! named_enum {
    ($(#[$meta:meta])* $vis:vis enum $type:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)+
    }) => {
        $(#[$meta])*
        $vis enum $type { $($(#[$variant_meta])* $variant,)+ }

        #[allow(dead_code, reason = "not every enum is listed")]
        impl $type {
            /// All values, in the order of their definition.
            $vis const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name.
            $vis fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
