//! A trampoline and a slot for each function of the driver.
//!
//! Each `cu…` symbol is defined here as one indirect jump through its slot, so that a function of any signature passes
//! through with its arguments untouched:
//!
//! ```text
//! cuInit:           jmp  [slot of cuInit]      hidden symbol: the linker resolves cust's calls to it, and no
//!                                              shared library exports it
//! first of cuInit:  call first_call            saves the argument registers, binds all slots, restores them
//!                   jmp  [slot of cuInit]
//! slot of cuInit:   address of `first of cuInit`, after binding that of the driver's own function
//! ```
//!
//! # Why the linker takes these
//!
//! The definitions lie in one object file of this crate's archive. A linker pulls an object out of an archive only when
//! something refers to it. `rust-lld` looks at all archives again for each new name, but GNU ld walks them once, and may
//! have passed this one before it meets `cust`'s calls. So [`slots`], which every public function of this crate needs,
//! refers to [`framewright_driver_slots`], a symbol that only the assembly below defines: a program that calls
//! [`crate::status`] has the trampolines.

use core::arch::global_asm;
use core::sync::atomic::AtomicUsize;

use crate::names::for_each_function;

macro_rules! count {
    ($($name:ident)*) => {
        /// The names, in the order of the slots.
        pub(crate) static NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}
for_each_function!(count);

unsafe extern "C" {
    /// The slot table: for each of [`NAMES`] the address to jump to. The anchor that makes linkers take the assembly.
    static framewright_driver_slots: [AtomicUsize; NAMES.len()];
}

/// The slots, in the order of [`NAMES`].
pub(crate) fn slots() -> &'static [AtomicUsize] {
    // SAFETY: the assembly below defines the symbol with one initialised, aligned word for each name, in memory that
    // stays writable. Rust reaches it as atomics only; a trampoline's load of an aligned word is atomic, too.
    unsafe { &framewright_driver_slots }
}

/// What the first call of any function runs before it goes on: fills all slots.
///
/// A panic inside would end the process (`extern "C"`), never unwind through the caller's frames.
extern "C" fn bind() {
    crate::status();
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
macro_rules! trampolines {
    ($($name:ident)*) => {
        global_asm!(
            r#"
            .pushsection .text.framewright_driver,"ax",@progbits
            .p2align 4
            .type .Lframewright_first_call,@function
            .Lframewright_first_call:
            .cfi_startproc
            # Entered by a call from a function's entry, so the stack is 16-byte aligned here.
                push rbp
            .cfi_def_cfa_offset 16
            .cfi_offset rbp, -16
                mov rbp, rsp
            .cfi_def_cfa_register rbp
                sub rsp, 200
                mov [rsp], rdi
                mov [rsp + 8], rsi
                mov [rsp + 16], rdx
                mov [rsp + 24], rcx
                mov [rsp + 32], r8
                mov [rsp + 40], r9
                mov [rsp + 48], rax
                mov [rsp + 56], r10
                movups [rsp + 64], xmm0
                movups [rsp + 80], xmm1
                movups [rsp + 96], xmm2
                movups [rsp + 112], xmm3
                movups [rsp + 128], xmm4
                movups [rsp + 144], xmm5
                movups [rsp + 160], xmm6
                movups [rsp + 176], xmm7
                call {bind}
                movups xmm7, [rsp + 176]
                movups xmm6, [rsp + 160]
                movups xmm5, [rsp + 144]
                movups xmm4, [rsp + 128]
                movups xmm3, [rsp + 112]
                movups xmm2, [rsp + 96]
                movups xmm1, [rsp + 80]
                movups xmm0, [rsp + 64]
                mov r10, [rsp + 56]
                mov rax, [rsp + 48]
                mov r9, [rsp + 40]
                mov r8, [rsp + 32]
                mov rcx, [rsp + 24]
                mov rdx, [rsp + 16]
                mov rsi, [rsp + 8]
                mov rdi, [rsp]
                leave
            .cfi_def_cfa rsp, 8
                ret
            .cfi_endproc
            .size .Lframewright_first_call, . - .Lframewright_first_call
            .popsection

            .pushsection .data.rel.local.framewright_driver,"aw",@progbits
            .p2align 3
            .globl framewright_driver_slots
            .hidden framewright_driver_slots
            .type framewright_driver_slots,@object
            framewright_driver_slots:
            .popsection
            "#,
            $(concat!(
                ".pushsection .text.framewright_driver,\"ax\",@progbits\n",
                ".p2align 4\n",
                ".globl ", stringify!($name), "\n",
                ".hidden ", stringify!($name), "\n",
                ".type ", stringify!($name), ",@function\n",
                stringify!($name), ":\n",
                ".cfi_startproc\n",
                "jmp qword ptr [rip + .Lframewright_slot_", stringify!($name), "]\n",
                ".Lframewright_first_", stringify!($name), ":\n",
                "call .Lframewright_first_call\n",
                "jmp qword ptr [rip + .Lframewright_slot_", stringify!($name), "]\n",
                ".cfi_endproc\n",
                ".size ", stringify!($name), ", . - ", stringify!($name), "\n",
                ".popsection\n",
                ".pushsection .data.rel.local.framewright_driver,\"aw\",@progbits\n",
                ".Lframewright_slot_", stringify!($name), ": .quad .Lframewright_first_", stringify!($name), "\n",
                ".popsection\n",
            ),)*
            ".pushsection .data.rel.local.framewright_driver,\"aw\",@progbits",
            ".size framewright_driver_slots, . - framewright_driver_slots",
            ".popsection",
            bind = sym bind,
        );
    };
}

/// Untried: GNU as takes it, nobody has run it.
#[cfg(all(target_arch = "aarch64", target_os = "linux"))]
macro_rules! trampolines {
    ($($name:ident)*) => {
        global_asm!(
            r#"
            .pushsection .text.framewright_driver,"ax",@progbits
            .p2align 4
            // x16: address of the slot. Everything that may hold an argument is kept.
            .Lframewright_first_call:
            .cfi_startproc
                stp x29, x30, [sp, #-224]!
            .cfi_def_cfa_offset 224
            .cfi_offset x29, -224
            .cfi_offset x30, -216
                mov x29, sp
                stp x0, x1, [sp, #16]
                stp x2, x3, [sp, #32]
                stp x4, x5, [sp, #48]
                stp x6, x7, [sp, #64]
                stp x8, x16, [sp, #80]
                stp q0, q1, [sp, #96]
                stp q2, q3, [sp, #128]
                stp q4, q5, [sp, #160]
                stp q6, q7, [sp, #192]
                bl {bind}
                ldp q6, q7, [sp, #192]
                ldp q4, q5, [sp, #160]
                ldp q2, q3, [sp, #128]
                ldp q0, q1, [sp, #96]
                ldp x8, x16, [sp, #80]
                ldp x6, x7, [sp, #64]
                ldp x4, x5, [sp, #48]
                ldp x2, x3, [sp, #32]
                ldp x0, x1, [sp, #16]
                ldp x29, x30, [sp], #224
            .cfi_def_cfa sp, 0
                ldar x16, [x16]
                br x16
            .cfi_endproc
            .popsection

            .pushsection .data.rel.local.framewright_driver,"aw",@progbits
            .p2align 3
            .globl framewright_driver_slots
            .hidden framewright_driver_slots
            .type framewright_driver_slots,@object
            framewright_driver_slots:
            .popsection
            "#,
            $(concat!(
                ".pushsection .text.framewright_driver,\"ax\",@progbits\n",
                ".p2align 4\n",
                ".globl ", stringify!($name), "\n",
                ".hidden ", stringify!($name), "\n",
                ".type ", stringify!($name), ",@function\n",
                stringify!($name), ":\n",
                ".cfi_startproc\n",
                "adrp x16, .Lframewright_slot_", stringify!($name), "\n",
                "add x16, x16, :lo12:.Lframewright_slot_", stringify!($name), "\n",
                "ldar x17, [x16]\n",
                "br x17\n",
                ".Lframewright_first_", stringify!($name), ":\n",
                "b .Lframewright_first_call\n",
                ".cfi_endproc\n",
                ".size ", stringify!($name), ", . - ", stringify!($name), "\n",
                ".popsection\n",
                ".pushsection .data.rel.local.framewright_driver,\"aw\",@progbits\n",
                ".Lframewright_slot_", stringify!($name), ": .quad .Lframewright_first_", stringify!($name), "\n",
                ".popsection\n",
            ),)*
            ".pushsection .data.rel.local.framewright_driver,\"aw\",@progbits",
            ".size framewright_driver_slots, . - framewright_driver_slots",
            ".popsection",
            bind = sym bind,
        );
    };
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux")))]
compile_error!("framewright-driver has trampolines for Linux on x86-64 and aarch64 only");

for_each_function!(trampolines);
