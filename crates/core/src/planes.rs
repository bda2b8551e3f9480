//! The planes of a format: a tuple of one to four [`Spec`](crate::Spec)s.

use crate::{
    error::LayoutError, error::Quantity, pitch::Dyn, pitch::Pitch, sealed::Sealed, spec::PlaneInfo, spec::PlaneSpec,
    spec::Spec, subsampling::Step,
};

/// Makes something of each plane, with the plane's own type: how an image hands out typed planes.
pub trait PlaneMap {
    /// What plane `S` becomes.
    type Plane<S: PlaneSpec>;
    /// Makes it; `index` counts from 0.
    fn plane<S: PlaneSpec>(&mut self, index: usize, pitch: <S::Pitch as Pitch>::Repr) -> Self::Plane<S>;
}

/// Makes something of each plane of a format, where pitches do not matter: how kernels get typed planes.
pub trait PlaneEach {
    /// What plane `S` becomes.
    type Plane<S: PlaneSpec>;
    /// Makes it; `index` counts from 0.
    fn plane<S: PlaneSpec>(&mut self, index: usize) -> Self::Plane<S>;
}

/// The list of exactly one plane. Sealed.
#[diagnostic::on_unimplemented(
    message = "this format has more than one plane",
    label = "expected a format with one plane, as `Gray8` or `Bgr8`",
    note = "take the planes apart first: `let (y, cbcr) = image.planes();`"
)]
pub trait OnePlane: PlaneList<Array<u8> = [u8; 1]> {
    /// The plane.
    type Plane: PlaneSpec;
}
impl<S: PlaneSpec> OnePlane for (S,) {
    type Plane = S;
}

/// A tuple of one to four [`Spec`](crate::Spec)s. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of planes",
    label = "expected a tuple of one to four `Spec`s",
    note = "a format with one plane writes a tuple of one: `type Planes = (Spec<Y, u8>,);`"
)]
pub trait PlaneList: Sealed + 'static {
    /// How many planes.
    const COUNT: usize;
    /// The planes as values.
    const INFOS: &'static [PlaneInfo];
    /// The grid of the format: the coarsest subsampling of its planes.
    const STEP: Step;
    /// One `T` a plane.
    type Array<T: Copy + Send + Sync + core::fmt::Debug>: Copy
        + Send
        + Sync
        + AsRef<[T]>
        + AsMut<[T]>
        + core::fmt::Debug;
    /// What is stored to know all pitches: nothing where all are static.
    type Pitches: Copy + Send + Sync + PartialEq + Eq + core::fmt::Debug + 'static;
    /// The same planes with pitches known at run time: what two formats share that differ in nothing else.
    type Unpitched: 'static;
    /// The tuple of what a [`PlaneMap`] makes.
    type Map<M: PlaneMap>;

    /// One `T` a plane, made from the plane's index.
    fn array<T: Copy + Send + Sync + core::fmt::Debug>(make: impl FnMut(usize) -> T) -> Self::Array<T>;
    /// Checks the pitches of all planes against their types.
    ///
    /// # Errors
    /// The first plane whose pitch is not what its type says.
    fn resolve(pitches_bytes: &[i64]) -> Result<Self::Pitches, LayoutError>;
    /// The pitches in bytes.
    fn pitches_bytes(pitches: Self::Pitches) -> Self::Array<i64>;
    /// The pitch that the type of plane `index` derives from the first plane's; `None` where it may be any.
    fn follow(index: usize, first_bytes: i64) -> Option<i64>;
    /// Makes something of each plane.
    fn map<M: PlaneMap>(map: &mut M, pitches: Self::Pitches) -> Self::Map<M>;
    /// The tuple of what a [`PlaneEach`] makes.
    type Each<M: PlaneEach>;
    /// Makes something of each plane.
    fn each<M: PlaneEach>(map: &mut M) -> Self::Each<M>;
}

/// Planes that differ from `Other`'s in nothing but how the pitch is known.
#[diagnostic::on_unimplemented(
    message = "the planes of these two formats differ in more than how their pitch is known",
    label = "expected the same components, samples and subsampling in the same order",
    note = "one has {Other}, the other {Self}"
)]
pub trait SamePlanes<Other: PlaneList>: PlaneList {}
impl<A: PlaneList, B: PlaneList<Unpitched: SameAs<A::Unpitched>>> SamePlanes<A> for B {}

/// Holds for a type and itself, which the compiler knows for any type: an equality of types would replace the message of
/// [`SamePlanes`] by its own.
#[diagnostic::on_unimplemented(
    message = "the planes of these two formats differ in more than how their pitch is known",
    label = "expected the same components, samples and subsampling in the same order",
    note = "one has {Other}, the other {Self}"
)]
pub trait SameAs<Other> {}
impl<T> SameAs<T> for T {}

/// Planes that may have any pitch. Sealed.
#[diagnostic::on_unimplemented(
    message = "this format states a pitch in its type",
    label = "expected a format whose planes all have pitch `Dyn`, as `Yuv420p8<Free>`"
)]
pub trait FreePlanes: PlaneList {}

const fn coarsest(infos: &[PlaneInfo]) -> Step {
    let mut step = Step { x: 1, y: 1 };
    let mut i = 0;
    while i < infos.len() {
        if infos[i].step.x > step.x {
            step.x = infos[i].step.x;
        }
        if infos[i].step.y > step.y {
            step.y = infos[i].step.y;
        }
        i += 1;
    }
    step
}

fn resolve_one<S: PlaneSpec>(pitches: &[i64], index: usize) -> Result<<S::Pitch as Pitch>::Repr, LayoutError> {
    let (own, first) = (pitches[index], pitches[0]);
    S::Pitch::resolve(own, first).map_err(|expected| LayoutError {
        plane: S::INFO.name,
        quantity: Quantity::PitchBytes,
        expected,
        found: own,
    })
}

macro_rules! lists {
    ($($count:literal: $($s:ident $c:ident $t:ident $u:ident $i:tt),+;)*) => {$(
        impl<$($s: PlaneSpec),+> Sealed for ($($s,)+) {}
        impl<$($s: PlaneSpec),+> PlaneList for ($($s,)+) {
            const COUNT: usize = $count;
            const INFOS: &'static [PlaneInfo] = &[$($s::INFO),+];
            const STEP: Step = coarsest(Self::INFOS);
            type Array<T: Copy + Send + Sync + core::fmt::Debug> = [T; $count];
            type Pitches = ($(<$s::Pitch as Pitch>::Repr,)+);
            type Unpitched = ($(Spec<$s::Component, $s::Sample, $s::Subsampling, Dyn>,)+);
            type Map<M: PlaneMap> = ($(M::Plane<$s>,)+);

            fn array<T: Copy + Send + Sync + core::fmt::Debug>(make: impl FnMut(usize) -> T) -> [T; $count] {
                core::array::from_fn(make)
            }
            fn resolve(pitches_bytes: &[i64]) -> Result<Self::Pitches, LayoutError> {
                Ok(($(resolve_one::<$s>(pitches_bytes, $i)?,)+))
            }
            fn pitches_bytes(pitches: Self::Pitches) -> [i64; $count] {
                [$($s::Pitch::bytes(pitches.$i)),+]
            }
            fn follow(index: usize, first_bytes: i64) -> Option<i64> {
                match index {
                    $($i => $s::Pitch::follow(first_bytes),)+
                    _ => None,
                }
            }
            fn map<M: PlaneMap>(map: &mut M, pitches: Self::Pitches) -> Self::Map<M> {
                ($(map.plane::<$s>($i, pitches.$i),)+)
            }
            type Each<M: PlaneEach> = ($(M::Plane<$s>,)+);
            #[inline(always)]
            fn each<M: PlaneEach>(map: &mut M) -> Self::Each<M> {
                ($(map.plane::<$s>($i),)+)
            }
        }
        // Not for any spec whose `Pitch` is `Dyn`: then the compiler would speak of that type and not of the trait.
        impl<$($c, $t, $u),+> FreePlanes for ($(Spec<$c, $t, $u, Dyn>,)+) where $(Spec<$c, $t, $u, Dyn>: PlaneSpec),+ {}
    )*};
}
lists! {
    1: S0 C0 T0 U0 0;
    2: S0 C0 T0 U0 0, S1 C1 T1 U1 1;
    3: S0 C0 T0 U0 0, S1 C1 T1 U1 1, S2 C2 T2 U2 2;
    4: S0 C0 T0 U0 0, S1 C1 T1 U1 1, S2 C2 T2 U2 2, S3 C3 T3 U3 3;
}
