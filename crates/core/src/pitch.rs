//! Pitch: the signed count of bytes from the start of a row to the start of the next.
//!
//! A pitch that is known when compiling is a type and costs no memory; one known at run time costs a word.
//!
//! | type | meaning | stored |
//! |---|---|---|
//! | [`Dyn`] | any | `i64` |
//! | [`Bytes<N>`] | exactly `N` | nothing |
//! | [`Per<P, N>`] | the first plane's pitch `P` divided by `N`, rounded up | as `P` |
//! | [`Even<P>`] | the first plane's pitch `P`, rounded up to an even count | as `P` |

use crate::{error::Expected, sealed::Sealed};
use core::marker::PhantomData;

/// How a plane's pitch is known. Sealed.
pub trait Pitch: Sealed + 'static {
    /// The pitch in bytes, where the type says it.
    const STATIC: Option<i64>;
    /// What must be stored to know the pitch: nothing where it is static.
    type Repr: Copy + Send + Sync + PartialEq + Eq + core::fmt::Debug + 'static;
    /// The pitch in bytes.
    fn bytes(repr: Self::Repr) -> i64;
    /// Checks a plane's pitch, given the pitch of the format's first plane.
    ///
    /// # Errors
    /// What the pitch must be instead.
    fn resolve(own_bytes: i64, first_bytes: i64) -> Result<Self::Repr, Expected>;
    /// The pitch that this rule gives a plane whose first plane has `first_bytes`; `None` where any will do.
    fn follow(first_bytes: i64) -> Option<i64>;
}

/// A pitch known at run time.
#[derive(Clone, Copy, Debug)]
pub enum Dyn {}
impl Sealed for Dyn {}
impl Pitch for Dyn {
    const STATIC: Option<i64> = None;
    type Repr = i64;
    fn bytes(repr: i64) -> i64 {
        repr
    }
    fn resolve(own_bytes: i64, _: i64) -> Result<i64, Expected> {
        Ok(own_bytes)
    }
    fn follow(_: i64) -> Option<i64> {
        None
    }
}

/// A pitch of exactly `N` bytes.
#[derive(Clone, Copy, Debug)]
pub enum Bytes<const N: i64> {}
impl<const N: i64> Sealed for Bytes<N> {}
impl<const N: i64> Pitch for Bytes<N> {
    const STATIC: Option<i64> = Some(N);
    type Repr = ();
    fn bytes((): ()) -> i64 {
        N
    }
    fn resolve(own_bytes: i64, _: i64) -> Result<(), Expected> {
        if own_bytes == N { Ok(()) } else { Err(Expected::Exactly(N)) }
    }
    fn follow(_: i64) -> Option<i64> {
        Some(N)
    }
}

/// The first plane's pitch `P` divided by `N`, rounded up: how chroma rows lie in a contiguous planar frame.
#[derive(Clone, Copy, Debug)]
pub struct Per<P, const N: i64>(PhantomData<P>);

/// The first plane's pitch `P` rounded up to an even count: how interleaved chroma lies in a contiguous NV12 frame.
#[derive(Clone, Copy, Debug)]
pub struct Even<P>(PhantomData<P>);

/// `first` divided by `by`, rounded up.
const fn per(first: i64, by: i64) -> i64 {
    first / by + (first % by != 0) as i64
}

/// `first` rounded up to an even count.
const fn even(first: i64) -> i64 {
    first + first % 2
}

macro_rules! derived {
    ([$($generic:tt)*] $t:ty, $first:ident => $value:expr) => {
        impl<P: Pitch, $($generic)*> Sealed for $t {}
        impl<P: Pitch, $($generic)*> Pitch for $t {
            const STATIC: Option<i64> = match P::STATIC {
                Some($first) => Some($value),
                None => None,
            };
            type Repr = P::Repr;
            fn bytes(repr: P::Repr) -> i64 {
                let $first = P::bytes(repr);
                $value
            }
            fn resolve(own_bytes: i64, $first: i64) -> Result<P::Repr, Expected> {
                // A derived pitch is counted forwards; bottom-up frames keep the free form.
                if $first <= 0 {
                    return Err(Expected::AtLeast(1));
                }
                let expected = $value;
                if own_bytes == expected { P::resolve($first, $first) } else { Err(Expected::Exactly(expected)) }
            }
            fn follow($first: i64) -> Option<i64> {
                Some($value)
            }
        }
    };
}
derived!([const N: i64] Per<P, N>, first => per(first, N));
derived!([] Even<P>, first => even(first));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_pitches_cost_no_bytes_and_dynamic_ones_a_word() {
        assert_eq!(size_of::<<Bytes<896> as Pitch>::Repr>(), 0);
        assert_eq!(size_of::<<Per<Bytes<896>, 2> as Pitch>::Repr>(), 0);
        assert_eq!(size_of::<<Dyn as Pitch>::Repr>(), 8);
        assert_eq!(<Per<Bytes<5>, 2> as Pitch>::STATIC, Some(3));
        assert_eq!(<Even<Bytes<5>> as Pitch>::STATIC, Some(6));
    }

    #[test]
    fn a_linked_pitch_is_half_of_the_first_rounded_up() {
        assert_eq!(Per::<Dyn, 2>::resolve(3, 5), Ok(5));
        assert_eq!(Per::<Dyn, 2>::bytes(5), 3);
        assert_eq!(Per::<Dyn, 2>::resolve(2, 5), Err(Expected::Exactly(3)));
        assert_eq!(Per::<Dyn, 2>::resolve(-2, -4), Err(Expected::AtLeast(1)));
        assert_eq!(Bytes::<4>::resolve(5, 5), Err(Expected::Exactly(4)));
    }
}
