//! Which loads are allowed at a place.

/// What is known of the bytes around a place, from most to least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    /// All inside, and on the alignment of the load.
    Aligned,
    /// All inside, with a word to spare on both sides.
    Inside,
    /// Some may lie outside.
    Edge,
}
