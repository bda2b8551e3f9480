//! The driver's result codes, as far as the stand-in returns or names them.

use std::ffi::CStr;

/// A result code that is not success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u32);

/// What the inside of every function returns.
pub(crate) type Answer = Result<(), Code>;

macro_rules! codes {
    ($($name:ident $number:literal $text:literal)*) => {
        #[allow(dead_code, reason = "a table of the driver's codes, some only for tests that ask for them")]
        impl Code {
            $(pub(crate) const $name: Self = Self($number);)*
        }

        /// The driver's name of a code and its sentence.
        pub(crate) fn texts(code: u32) -> Option<(&'static CStr, &'static CStr)> {
            const fn text(bytes: &'static str) -> &'static CStr {
                match CStr::from_bytes_with_nul(bytes.as_bytes()) {
                    Ok(text) => text,
                    Err(_) => panic!("a text with an inner NUL"),
                }
            }
            match code {
                0 => Some((c"CUDA_SUCCESS", c"no error")),
                $($number => Some((
                    const { text(concat!("CUDA_ERROR_", stringify!($name), "\0")) },
                    const { text(concat!($text, "\0")) },
                )),)*
                _ => None,
            }
        }
    };
}

codes! {
    INVALID_VALUE 1 "invalid argument"
    OUT_OF_MEMORY 2 "out of memory"
    NOT_INITIALIZED 3 "initialization error"
    DEINITIALIZED 4 "driver shutting down"
    NO_DEVICE 100 "no CUDA-capable device is detected"
    INVALID_DEVICE 101 "invalid device ordinal"
    INVALID_IMAGE 200 "device kernel image is invalid"
    INVALID_CONTEXT 201 "invalid device context"
    NO_BINARY_FOR_GPU 209 "no kernel image is available for execution on the device"
    INVALID_PTX 218 "a PTX JIT compilation failed"
    UNSUPPORTED_PTX_VERSION 222 "the provided PTX was compiled with an unsupported toolchain."
    INVALID_HANDLE 400 "invalid resource handle"
    NOT_FOUND 500 "named symbol not found"
    NOT_READY 600 "device not ready"
    ILLEGAL_ADDRESS 700 "an illegal memory access was encountered"
    LAUNCH_OUT_OF_RESOURCES 701 "too many resources requested for launch"
    PRIMARY_CONTEXT_ACTIVE 708 "cannot set while device is active in this process"
    CONTEXT_IS_DESTROYED 709 "context is destroyed"
    HOST_MEMORY_ALREADY_REGISTERED 712 "part or all of the requested memory range is already mapped"
    HOST_MEMORY_NOT_REGISTERED 713 "pointer does not correspond to a registered memory region"
    LAUNCH_FAILED 719 "unspecified launch failure"
    NOT_PERMITTED 800 "operation not permitted"
    NOT_SUPPORTED 801 "operation not supported"
    UNKNOWN 999 "unknown error"
}
