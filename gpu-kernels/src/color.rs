//! Exact YUV to RGB at 8 bits: the correctly rounded value of the standard's formula, in integers.
//!
//! With Y' in [0, 1] and Cb, Cr in [-1/2, 1/2] (ITU-T H.273, 8.3):
//!
//! ```text
//! R = Y' + 2 (1 - Kr) Cr
//! G = Y' - 2 Kb (1 - Kb) / Kg Cb - 2 Kr (1 - Kr) / Kg Cr        Kg = 1 - Kr - Kb
//! B = Y' + 2 (1 - Kb) Cb
//! ```
//!
//! The result is `floor(255 x + 1/2)` of the exact rational, then clamped to 0..=255; codes outside the legal range are not
//! clamped before. R and B are one 32-bit multiply-add a term with 21 fractional bits. For G in limited range no 32-bit affine
//! form is exact (the feasible luma coefficients hold no multiple of 2^-24), so G takes 64 bits with 30 fractional bits.
//! Rounding constants sit a little above one half so that exact ties round up and no value crosses: with them all 2^24
//! triples of each matrix and range are right, which `tests/tests/exact.rs` checks against rationals. YCgCo goes the same way with
//! R = Y' - Cg + Co, G = Y' + Cg, B = Y' - Cg - Co. Luma weights of one's own are not scanned: there a coefficient is at most half
//! a unit off, so that ties round up and a level is wrong by at most one, and only where the exact value lies less than 2^-12 below
//! a rounding boundary (green: 2^-20).

use framewright_core::{Matrix, Range};

/// Fractional bits of the first and last channel.
const OUTER_BITS: u32 = 21;
/// Fractional bits of the middle channel.
const MIDDLE_BITS: u32 = 30;

/// Coefficients from 8-bit codes to three 8-bit channels. The middle channel is green; first and last are blue and red,
/// in the order of the output. Chroma coefficients are for Cb, then Cr.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct YuvToRgb8 {
    /// Rounding and the codes' offsets, with 30 fractional bits.
    middle_bias: i64,
    /// Levels a luma code, with 30 fractional bits.
    middle_luma: u32,
    /// Levels a chroma code, with 30 fractional bits.
    middle_chroma: [i32; 2],
    /// Levels a luma code, with 21 fractional bits.
    outer_luma: i32,
    /// Levels a chroma code, with 21 fractional bits.
    first_chroma: [i32; 2],
    /// Levels a chroma code, with 21 fractional bits.
    last_chroma: [i32; 2],
    /// Rounding and the codes' offsets, with 21 fractional bits.
    first_bias: i32,
    /// The same.
    last_bias: i32,
}

/// What a chroma sample adds to the pixels that share it.
#[derive(Clone, Copy, Debug)]
pub struct ChromaTerms {
    first: i32,
    middle: i64,
    last: i32,
}

/// `numerator / denominator * 2^bits`, rounded to nearest.
// rust-cuda: ok, the host makes the coefficients.
const fn fixed(numerator: i128, denominator: i128, bits: u32) -> i128 {
    let twice = (numerator << (bits + 1)) / denominator;
    // Half away from zero; no coefficient here lies at a tie.
    if twice >= 0 { (twice + 1) >> 1 } else { -((1 - twice) >> 1) }
}

/// Levels a chroma code, where a channel has `numerator / over` of it.
// rust-cuda: ok, as above.
const fn chroma(numerator: i128, over: i128, codes: i128, bits: u32) -> i128 {
    fixed(255 * numerator, over * codes, bits)
}

impl YuvToRgb8 {
    /// The coefficients of a matrix and range. `blue_first` is the order B, G, R; else R, G, B.
    pub const fn new(matrix: Matrix, range: Range, blue_first: bool) -> Self {
        // How much of Cb and Cr red, green and blue have, over a denominator.
        let (red, green, blue) = match matrix.luma_weights() {
            Some(weights) => {
                // rust-cuda: ok, as above.
                let (kr, kb, one) = (weights.kr_e6() as i128, weights.kb_e6() as i128, 1_000_000);
                let kg = one - kr - kb;
                (
                    (0, 2 * (one - kr), one),
                    (-2 * kb * (one - kb), -2 * kr * (one - kr), one * kg),
                    (2 * (one - kb), 0, one),
                )
            }
            // YCgCo.
            None => ((-1, 1, 1), (1, 0, 1), (-1, -1, 1)),
        };
        // Levels a code: 255/219 and 255/224 in limited range, 1 in full range.
        let (luma_codes, chroma_codes, luma_zero) = match range {
            Range::Limited => (219, 224, 16),
            Range::Full => (255, 255, 0),
        };
        let outer_luma = fixed(255, luma_codes, OUTER_BITS);
        let middle_luma = fixed(255, luma_codes, MIDDLE_BITS);
        let red = [chroma(red.0, red.2, chroma_codes, OUTER_BITS), chroma(red.1, red.2, chroma_codes, OUTER_BITS)];
        let green =
            [chroma(green.0, green.2, chroma_codes, MIDDLE_BITS), chroma(green.1, green.2, chroma_codes, MIDDLE_BITS)];
        let blue = match (matrix, range) {
            // The one coefficient that is exact rounded down and not to nearest (4430027.63): with 4430028 no bias is right.
            (Matrix::Bt709, Range::Limited) => [4_430_027, 0],
            _ => [chroma(blue.0, blue.2, chroma_codes, OUTER_BITS), chroma(blue.1, blue.2, chroma_codes, OUTER_BITS)],
        };
        // What is added to one half, from the scan of all triples: 34 lies in every interval that the scan leaves, except for
        // those of red, green and blue here.
        let (red_beta, green_beta, blue_beta) = match (matrix, range) {
            (Matrix::Bt601, Range::Full) => (34, 34, 64),
            (Matrix::Fcc, Range::Limited) => (128, 34, 34),
            (Matrix::Fcc, Range::Full) => (34, 128, 64),
            (Matrix::YCgCo, Range::Limited) => (100, 100, 100),
            // More than the coefficients' errors can add up to, so that ties round up whatever the weights.
            (Matrix::Custom(_), _) => (190, 250, 190),
            _ => (34, 34, 34),
        };
        let half = 1i128 << (OUTER_BITS - 1);
        let red_bias = half + red_beta - outer_luma * luma_zero - (red[0] + red[1]) * 128;
        let blue_bias = half + blue_beta - outer_luma * luma_zero - (blue[0] + blue[1]) * 128;
        let green_bias =
            (1i128 << (MIDDLE_BITS - 1)) + green_beta - middle_luma * luma_zero - (green[0] + green[1]) * 128;
        let red = ([red[0] as i32, red[1] as i32], red_bias as i32);
        let blue = ([blue[0] as i32, blue[1] as i32], blue_bias as i32);
        let (first, last) = if blue_first { (blue, red) } else { (red, blue) };
        Self {
            middle_bias: green_bias as i64,
            middle_luma: middle_luma as u32,
            middle_chroma: [green[0] as i32, green[1] as i32],
            outer_luma: outer_luma as i32,
            first_chroma: first.0,
            last_chroma: last.0,
            first_bias: first.1,
            last_bias: last.1,
        }
    }

    /// The same for sources whose interleaved chroma has Cr first (NV21).
    pub const fn with_swapped_chroma(self) -> Self {
        const fn swapped([a, b]: [i32; 2]) -> [i32; 2] {
            [b, a]
        }
        Self {
            middle_chroma: swapped(self.middle_chroma),
            first_chroma: swapped(self.first_chroma),
            last_chroma: swapped(self.last_chroma),
            ..self
        }
    }

    /// What the chroma codes add.
    #[inline(always)]
    pub fn chroma(&self, cb: u32, cr: u32) -> ChromaTerms {
        let outer = |[b, r]: [i32; 2], bias: i32| {
            b.wrapping_mul(cb as i32).wrapping_add(r.wrapping_mul(cr as i32)).wrapping_add(bias)
        };
        let [b, r] = self.middle_chroma;
        ChromaTerms {
            first: outer(self.first_chroma, self.first_bias),
            middle: (i64::from(b) * i64::from(cb as i32))
                .wrapping_add(i64::from(r) * i64::from(cr as i32))
                .wrapping_add(self.middle_bias),
            last: outer(self.last_chroma, self.last_bias),
        }
    }

    /// The rounded channels of a pixel before clamping.
    #[inline(always)]
    pub fn pixel(&self, y: u32, chroma: ChromaTerms) -> [i32; 3] {
        let outer = self.outer_luma.wrapping_mul(y as i32);
        // u32 x u32 -> u64 is one instruction on the GPU.
        let middle = (u64::from(self.middle_luma) * u64::from(y)).wrapping_add(chroma.middle as u64) as i64;
        [
            outer.wrapping_add(chroma.first) >> OUTER_BITS,
            (middle >> MIDDLE_BITS) as i32,
            outer.wrapping_add(chroma.last) >> OUTER_BITS,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coefficients that were searched and scanned once, apart from this code.
    #[test]
    fn coefficients_are_those_of_the_scan() {
        let rows = [
            (Matrix::Bt601, Range::Limited, 2441889, 3347111, 4230442, 1250247329, -420651556, -872917364),
            (Matrix::Bt601, Range::Full, 2097152, 2940207, 3716153, 1073741824, -369513524, -766797999),
            (Matrix::Bt709, Range::Limited, 2441889, 3759651, 4430027, 1250247329, -228973956, -572207034),
            (Matrix::Bt709, Range::Full, 2097152, 3302595, 3891475, 1073741824, -201137906, -502644611),
            (Matrix::Bt2020, Range::Limited, 2441889, 3520435, 4491622, 1250247329, -201139873, -698387794),
            (Matrix::Bt2020, Range::Full, 2097152, 3092460, 3945582, 1073741824, -176687575, -613485749),
            (Matrix::Smpte240m, Range::Limited, 2441889, 3762515, 4359361, 1250247329, -277009102, -582594108),
            (Matrix::Smpte240m, Range::Full, 2097152, 3305112, 3829400, 1073741824, -243333486, -511768942),
            (Matrix::Fcc, Range::Limited, 2441889, 3342336, 4249541, 1250247329, -405651147, -870140355),
            (Matrix::Fcc, Range::Full, 2097152, 2936013, 3732931, 1073741824, -356336693, -764358587),
        ];
        for (matrix, range, luma, red, blue, green_luma, green_cb, green_cr) in rows {
            let c = YuvToRgb8::new(matrix, range, true);
            assert_eq!((c.outer_luma, c.last_chroma, c.first_chroma), (luma, [0, red], [blue, 0]), "{matrix} {range}");
            assert_eq!((c.middle_luma, c.middle_chroma), (green_luma, [green_cb, green_cr]), "{matrix} {range}");
        }
    }
}
