//! rust-cuda's device library as far as framewright's kernels call it: indices, the barrier, and a handler of panics.
#![no_std]
#![feature(stdarch_nvptx, asm_experimental_arch)]

pub mod thread {
    use core::arch::{asm, nvptx};

    macro_rules! indices {
        ($($name:ident: $intrinsic:ident;)+) => {$(
            #[inline(always)]
            pub fn $name() -> u32 {
                // SAFETY: reading a register has no precondition.
                unsafe { nvptx::$intrinsic() as u32 }
            }
        )+};
    }
    indices! {
        thread_idx_x: _thread_idx_x;
        thread_idx_y: _thread_idx_y;
        block_idx_x: _block_idx_x;
        block_idx_y: _block_idx_y;
        grid_dim_x: _grid_dim_x;
        grid_dim_y: _grid_dim_y;
    }

    #[inline(always)]
    pub fn sync_threads() {
        // SAFETY: as the real one, safe by name only: all threads of the block come here.
        unsafe { asm!("bar.sync 0;", options(nostack, preserves_flags)) }
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the launch; no precondition.
    unsafe { core::arch::nvptx::trap() }
}
