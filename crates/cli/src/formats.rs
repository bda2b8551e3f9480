//! The formats that the program knows: the one table from names to types.
//!
//! A format is a line here, under what the built-in conversions can do with it. Code that needs the type is a visitor:
//! [`FormatId::visit`] calls it with the type that belongs to a name.

use framewright::{Format, PlaneInfo, PlaneList, RgbFormat, Step, YuvFormat};

/// Generic code that is run for a format chosen at run time.
pub(crate) trait Visit {
    /// What it gives.
    type Output;
    /// Runs it for `F`.
    fn visit<F: Format>(self) -> Self::Output;
}

/// The same for formats that conversions read.
pub(crate) trait VisitYuv {
    /// What it gives.
    type Output;
    /// Runs it for `F`.
    fn visit<F: YuvFormat>(self) -> Self::Output;
}

/// The same for formats that conversions write.
pub(crate) trait VisitRgb {
    /// What it gives.
    type Output;
    /// Runs it for `F`.
    fn visit<F: RgbFormat>(self) -> Self::Output;
}

macro_rules! formats {
    (yuv { $($yuv:ident,)* } rgb { $($rgb:ident,)* } plain { $($plain:ident,)* }) => {
        /// A format that the program knows.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum FormatId { $($yuv,)* $($rgb,)* $($plain,)* }

        impl FormatId {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$yuv,)* $(Self::$rgb,)* $(Self::$plain,)*];

            /// FFmpeg's name.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$yuv => <framewright::$yuv as Format>::NAME,)*
                    $(Self::$rgb => <framewright::$rgb as Format>::NAME,)*
                    $(Self::$plain => <framewright::$plain as Format>::NAME,)*
                }
            }

            /// Runs `visitor` with the format's type.
            pub(crate) fn visit<V: Visit>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$yuv => visitor.visit::<framewright::$yuv>(),)*
                    $(Self::$rgb => visitor.visit::<framewright::$rgb>(),)*
                    $(Self::$plain => visitor.visit::<framewright::$plain>(),)*
                }
            }

            /// Runs `visitor` with the format's type if conversions read it.
            pub(crate) fn visit_yuv<V: VisitYuv>(self, visitor: V) -> Option<V::Output> {
                match self {
                    $(Self::$yuv => Some(visitor.visit::<framewright::$yuv>()),)*
                    _ => None,
                }
            }

            /// Runs `visitor` with the format's type if conversions write it.
            pub(crate) fn visit_rgb<V: VisitRgb>(self, visitor: V) -> Option<V::Output> {
                match self {
                    $(Self::$rgb => Some(visitor.visit::<framewright::$rgb>()),)*
                    _ => None,
                }
            }

            /// Whether conversions read it.
            pub(crate) const fn is_yuv(self) -> bool {
                matches!(self, $(Self::$yuv)|*)
            }

            /// Whether conversions write it.
            pub(crate) const fn is_rgb(self) -> bool {
                matches!(self, $(Self::$rgb)|*)
            }
        }
    };
}

formats! {
    yuv {
        Yuv420p8,
        Nv12,
        Yv12,
        Nv21,
    }
    rgb {
        Bgr8,
        Rgb8,
        Bgra8,
        Rgba8,
    }
    plain {
        Gray8,
    }
}

impl FormatId {
    /// The format of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// The format's planes.
    pub(crate) fn planes(self) -> &'static [PlaneInfo] {
        struct Infos;
        impl Visit for Infos {
            type Output = &'static [PlaneInfo];
            fn visit<F: Format>(self) -> Self::Output {
                F::Planes::INFOS
            }
        }
        self.visit(Infos)
    }

    /// The grid that crops lie on.
    pub(crate) fn step(self) -> Step {
        struct Grid;
        impl Visit for Grid {
            type Output = Step;
            fn visit<F: Format>(self) -> Step {
                F::Planes::STEP
            }
        }
        self.visit(Grid)
    }

    /// The other formats that this build converts it to.
    pub(crate) fn targets(self) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |to| self.is_yuv() && to.is_rgb())
    }

    /// Whether this build brings one to the other, by conversion or as a copy.
    pub(crate) fn becomes(self, to: Self) -> bool {
        self == to || (self.is_yuv() && to.is_rgb())
    }
}

impl std::fmt::Display for FormatId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Names in a row, for messages.
pub(crate) fn list(formats: impl IntoIterator<Item = FormatId>) -> String {
    formats.into_iter().map(FormatId::name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_belongs_to_one_format() {
        for &format in FormatId::ALL {
            assert_eq!(FormatId::named(format.name()), Some(format));
        }
        assert_eq!(FormatId::named("yuv420"), None);
    }

    #[test]
    fn conversions_go_from_yuv_to_rgb_and_from_each_to_itself() {
        assert_eq!(list(FormatId::Nv12.targets()), "bgr24, rgb24, bgra, rgba");
        assert_eq!(FormatId::Gray8.targets().count(), 0);
        assert!(FormatId::Gray8.becomes(FormatId::Gray8));
        assert!(!FormatId::Bgr8.becomes(FormatId::Rgb8));
        assert!(!FormatId::Nv12.becomes(FormatId::Yuv420p8));
        assert_eq!((FormatId::Nv12.step().x, FormatId::Bgra8.step().x), (2, 1));
    }
}
