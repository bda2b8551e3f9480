//! What neighbourhoods read past the edge of a plane.

/// What stands for samples past the edge, by the names that OpenCV and NPP use.
///
/// ```text
/// Replicate     aaa|abcdefgh|hhh
/// Reflect101    dcb|abcdefgh|gfe
/// Wrap          fgh|abcdefgh|abc
/// Constant(v)   vvv|abcdefgh|vvv
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Border<S> {
    /// The nearest sample inside.
    Replicate,
    /// Mirrored at the edge samples, which are not repeated.
    Reflect101,
    /// The plane repeats.
    Wrap,
    /// This sample.
    Constant(S),
}

impl<S> Border<S> {
    /// The place inside `0..count` that stands for `i`; `None` for the constant.
    #[inline(always)]
    pub(crate) fn place(&self, i: i32, count: u32) -> Option<u32> {
        if i >= 0 && (i as u32) < count {
            return Some(i as u32);
        }
        let n = i64::from(count);
        let i = i64::from(i);
        match self {
            // Not `clamp`, which would panic for a plane without samples, and so is compiled in.
            Self::Replicate => Some(i.max(0).min(n - 1) as u32),
            Self::Wrap => Some(remainder(i, n) as u32),
            Self::Reflect101 => {
                let period = 2 * (n - 1);
                if period == 0 {
                    return Some(0);
                }
                let i = remainder(i, period);
                Some(i.min(period - i) as u32)
            }
            Self::Constant(_) => None,
        }
    }
}

/// The remainder in `0..n`; `n` is above 0, which is said so that no panic is compiled in.
#[inline(always)]
fn remainder(i: i64, n: i64) -> i64 {
    let r = i.checked_rem(n).unwrap_or(0);
    if r < 0 { r + n } else { r }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_past_the_edge() {
        let places = |border: Border<u8>, n: u32| -> [Option<u32>; 9] {
            core::array::from_fn(|k| border.place(k as i32 - 3, n))
        };
        let some = |p: [u32; 9]| p.map(Some);
        assert_eq!(places(Border::Replicate, 3), some([0, 0, 0, 0, 1, 2, 2, 2, 2]));
        assert_eq!(places(Border::Reflect101, 3), some([1, 2, 1, 0, 1, 2, 1, 0, 1]));
        assert_eq!(places(Border::Wrap, 3), some([0, 1, 2, 0, 1, 2, 0, 1, 2]));
        assert_eq!(places(Border::Reflect101, 1), some([0; 9]));
        assert_eq!(places(Border::Reflect101, 2), some([1, 0, 1, 0, 1, 0, 1, 0, 1]));
        assert_eq!(places(Border::Constant(7), 2)[..5], [None, None, None, Some(0), Some(1)]);
        assert_eq!(Border::<u8>::Replicate.place(i32::MIN, u32::MAX), Some(0));
    }
}
