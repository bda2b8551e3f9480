//! How kernels run: rows of items, on the CPU here and on the GPU in `device`.

use crate::{
    item::Item,
    kernel::{Kernel, Launch},
    list::ParamList,
    problem::Problem,
};
#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
use crate::{item::private::Make, place::Reach};

/// Whether something is combined over all items, so that a launch's order of items matters.
pub const fn combines<K: Kernel>() -> bool {
    <K::Params as ParamList<K::Item, K::Given>>::COMBINES
}

/// What does not fit together in `K`: in its place, or in the parameter of that index.
#[doc(hidden)]
pub const fn problem<K: Kernel>() -> (Problem, usize, Problem) {
    let (index, problem) = <K::Params as ParamList<K::Item, K::Given>>::PROBLEM;
    (K::Item::PROBLEM, index, problem)
}

/// Fails where the place of `K` is none: `#[kernel]` asks at the place's type, so that the message points there.
#[doc(hidden)]
#[track_caller]
pub const fn place_fits<K: Kernel>() {
    problem::<K>().0.refuse();
}

/// Fails where parameter `index` of `K` or what is returned for it does not fit.
#[doc(hidden)]
#[track_caller]
pub const fn parameter_fits<K: Kernel>(index: usize) {
    let (place, first, problem) = problem::<K>();
    if !place.is_some() && first == index {
        problem.refuse();
    }
}

/// Keeps a kernel that does not fit from being compiled: what `#[kernel]` asks where it is written, once more for generic
/// kernels that are named only where they are launched. What loads and stores assume is promised here.
#[inline(always)]
pub(crate) fn check<K: Kernel>() {
    const {
        let (place, _, parameter) = problem::<K>();
        place.or(parameter).refuse();
    }
}

impl<K: Kernel> Launch<K> {
    /// Rows of items that cover the domain: first and one past the last.
    pub fn item_rows(&self) -> core::ops::Range<u32> {
        self.domain.y0 / K::Item::HEIGHT..self.domain.y1.div_ceil(K::Item::HEIGHT)
    }

    /// Columns of items that cover the domain: first and one past the last.
    pub fn item_columns(&self) -> core::ops::Range<u32> {
        self.domain.x0 / K::Item::WIDTH..self.domain.x1.div_ceil(K::Item::WIDTH)
    }

    /// The parameters, to run rows with.
    ///
    /// # Safety
    /// For as long as they are used: what the parameters read is readable, and the pixels of the domain in what they write
    /// writable, with nobody else using the latter.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    pub unsafe fn open(&self) -> K::Params {
        check::<K>();
        // SAFETY: as promised by the caller.
        unsafe { K::Params::open(&self.args, 0) }
    }

    /// Runs rows of items in the calling thread. `at` follows the item that runs, for whoever catches a panic.
    ///
    /// # Safety
    /// As [`Launch::open`], and nobody else runs these rows.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    pub unsafe fn run_item_rows(&self, params: &mut K::Params, rows: core::ops::Range<u32>, at: &mut [u32; 2]) {
        for row in rows {
            // SAFETY: as promised by the caller, for this row.
            unsafe { self.run_item_row(params, row, self.item_columns(), at) };
        }
    }

    /// # Safety
    /// As [`Launch::run_item_rows`].
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    #[inline(always)]
    unsafe fn run_item_row(&self, params: &mut K::Params, row: u32, columns: core::ops::Range<u32>, at: &mut [u32; 2]) {
        check::<K>();
        let domain = self.domain;
        let y = row * K::Item::HEIGHT;
        for column in columns {
            let x = column * K::Item::WIDTH;
            *at = [x, y];
            // A call for each reach, so that the loads of each are compiled for it.
            let given = match params.reach(x, y) {
                Reach::Edge => K::run(params, &K::Item::make(x, y, Reach::Edge, domain)),
                reach => K::run(params, &K::Item::make(x, y, reach, domain)),
            };
            // SAFETY: as promised by the caller.
            unsafe { params.store(&domain, x, y, &given) };
        }
    }

    /// Takes in what `later` combined, which ran the rows after those of `params`.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    pub fn merge(params: &mut K::Params, later: &K::Params) {
        params.merge(later);
    }

    /// Runs what a grid of a GPU would: for drivers that stand in for one. `grid` and `block` as the launch gave them.
    ///
    /// # Safety
    /// `raw` points to a `Launch<K>`, for which the promise of [`Launch::open`] holds.
    #[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
    pub unsafe fn run_grid(raw: *const u8, grid: [u32; 3], block: [u32; 3]) {
        // SAFETY: the caller promised a Launch<K> there; it may be unaligned.
        let launch = unsafe { raw.cast::<Self>().read_unaligned() };
        let (mut rows, mut columns) = (launch.item_rows(), launch.item_columns());
        if !combines::<K>() {
            // A combining grid strides over all; another covers what it covers.
            rows.end = rows.end.min(rows.start + grid[1] * block[1]);
            columns.end = columns.end.min(columns.start + grid[0] * block[0] * K::Item::REPEAT);
        }
        // SAFETY: as promised by the caller.
        unsafe {
            let mut params = launch.open();
            for row in rows {
                launch.run_item_row(&mut params, row, columns.clone(), &mut [0; 2]);
            }
            params.publish(&launch.args);
        }
    }
}
