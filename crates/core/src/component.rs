//! What a plane holds: the meaning of its channels, in memory order.

use crate::sealed::Sealed;

/// One colour channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Channel {
    /// Luma.
    Y,
    /// Blue-difference chroma, also called U.
    Cb,
    /// Red-difference chroma, also called V.
    Cr,
    /// Red.
    R,
    /// Green.
    G,
    /// Blue.
    B,
    /// Opacity.
    A,
}

/// The channels that a plane interleaves, in memory order. Sealed: the list below is the vocabulary.
pub trait Component: Sealed + 'static {
    /// As messages name it.
    const NAME: &'static str;
    /// The channels of one element, first in memory first.
    const CHANNELS: &'static [Channel];
}

macro_rules! components {
    ($($(#[$doc:meta])* $name:ident: $($channel:ident),+;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}
        impl Sealed for $name {}
        impl Component for $name {
            const NAME: &'static str = stringify!($name);
            const CHANNELS: &'static [Channel] = &[$(Channel::$channel),+];
        }
    )*};
}

components! {
    /// Luma alone.
    Y: Y;
    /// Blue-difference chroma alone (U).
    Cb: Cb;
    /// Red-difference chroma alone (V).
    Cr: Cr;
    /// Both chroma channels interleaved, Cb first, as in NV12.
    CbCr: Cb, Cr;
    /// Both chroma channels interleaved, Cr first, as in NV21.
    CrCb: Cr, Cb;
    /// Red alone.
    R: R;
    /// Green alone.
    G: G;
    /// Blue alone.
    B: B;
    /// Red, green, blue interleaved.
    Rgb: R, G, B;
    /// Blue, green, red interleaved, OpenCV's order.
    Bgr: B, G, R;
    /// Red, green, blue, opacity interleaved.
    Rgba: R, G, B, A;
    /// Blue, green, red, opacity interleaved.
    Bgra: B, G, R, A;
}
