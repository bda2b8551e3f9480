//! What a whole image comes to.

use framewright_kernel::prelude::*;

/// How often each luma code occurs. Blocks of 16 pixels read a vector at once; those past the edges are not counted.
#[kernel]
pub fn luma_histogram(at: Block<16, 1>, frame: In<Nv12>, histogram: Bins<256>) {
    let [row] = frame.planes().0.tile::<16, 1>(at);
    for (i, code) in row.into_iter().enumerate() {
        if at.covers(i as u32, 0) {
            histogram.count(code);
        }
    }
}

/// How many samples, their sum, and the sum of their squares: enough for mean and variance, and exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Moments {
    /// Samples.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The sum of their squares.
    pub squares: u64,
}

impl Moments {
    /// The mean, and the variance of the samples around it; `None` for no samples.
    pub fn mean_variance(&self) -> Option<(f64, f64)> {
        // rust-cuda: ok, only the host asks.
        let (n, sum, squares) = (u128::from(self.count), u128::from(self.sum), u128::from(self.squares));
        // Exact up to here: floats would subtract two large numbers that are nearly the same.
        let spread = n * squares - sum * sum;
        (n > 0).then(|| (sum as f64 / n as f64, spread as f64 / (n * n) as f64))
    }
}

impl Combine for Moments {
    const IDENTITY: Self = Self { count: 0, sum: 0, squares: 0 };
    fn combine(self, other: Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum + other.sum, squares: self.squares + other.squares }
    }
}

/// Mean and variance of a plane: pass a part of it (`crop`), or compute a part of the whole (`mean_variance(…).crop(rect)`).
#[kernel]
pub fn mean_variance(at: Pixel, src: In<Gray8>, moments: Reduce<Moments>) {
    let sample = u64::from(src.get(at));
    moments.add(Moments { count: 1, sum: sample, squares: sample * sample });
}
