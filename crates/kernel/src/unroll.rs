//! Loops over the parts of a tile, written out.

/// Runs the body for `i` in `0..$count`, a constant, the first 64 times (of `rows` the first 16) as so many copies of it. On the
/// GPU a tile lives in registers as long as every index is a constant when the optimiser first looks; a loop that it unrolls
/// later, or not, puts the tile into memory. Bodies call functions rather than stand inside one another. A host has its loop.
#[cfg(any(target_arch = "nvptx64", framewright_host_check))]
macro_rules! unrolled {
    (rows $i:ident in $count:expr => $body:block) => {
        unrolled!(@each $i $count, $body, 16, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    };
    ($i:ident in $count:expr => $body:block) => {
        unrolled!(@each $i $count, $body, 64, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
            32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
    };
    (@each $i:ident $count:expr, $body:block, $all:literal, $($n:literal)+) => {
        $(
            if const { $n < $count } {
                let $i: usize = $n;
                $body
            }
        )+
        if const { $all < $count } {
            let mut i = $all;
            while i < $count {
                let $i: usize = i;
                $body
                i += 1;
            }
        }
    };
}
#[cfg(not(any(target_arch = "nvptx64", framewright_host_check)))]
macro_rules! unrolled {
    (rows $i:ident in $count:expr => $body:block) => { unrolled!($i in $count => $body) };
    ($i:ident in $count:expr => $body:block) => {
        let mut i = 0;
        while i < $count {
            let $i: usize = i;
            $body
            i += 1;
        }
    };
}
pub(crate) use unrolled;
