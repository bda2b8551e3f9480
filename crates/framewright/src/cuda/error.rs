//! What a GPU, its driver or a kernel on it answered.

use framewright_driver::sys::Code;
use std::fmt;

/// What was asked of the driver, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Nothing that a number would tell.
    Nothing,
    /// So many bytes.
    Bytes(u64),
    /// The device of this number.
    Device(u32),
    /// A kernel or a module, by name.
    Name(&'static str),
}

/// An error of the CUDA location and executor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CudaError {
    /// There is no driver on this machine, or it finds no device; [`status`](crate::cuda::status) has the reason.
    NoDriver,
    /// No device of this number.
    NoSuchDevice {
        /// The number asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// A call of the driver failed.
    Driver {
        /// The function.
        call: &'static str,
        /// What was asked of it.
        asked: Asked,
        /// The driver's code.
        code: u32,
    },
    /// A kernel failed earlier; nothing on this device works any more in this process.
    ContextLost {
        /// The function that said so.
        call: &'static str,
        /// The driver's code.
        code: u32,
    },
    /// A kernel panicked; nothing on this device works any more in this process.
    DevicePanic {
        /// The kernel's entry.
        kernel: &'static str,
        /// The source file.
        file: &'static str,
        /// The line in it.
        line: u32,
        /// The column in it.
        column: u32,
        /// The block of the grid, then the thread of the block: x, y, z each.
        place: [u32; 6],
    },
    /// A PTX module whose kernel takes other parameters than this program passes.
    StaleModule {
        /// The kernel's entry.
        entry: &'static str,
        /// The hash of the parameters that this program passes.
        expected: u64,
        /// The hash that the module has.
        found: u64,
    },
    /// A kernel whose PTX module the device was not given, or whose entry the module does not have.
    UnknownKernel {
        /// The module.
        module: &'static str,
        /// The kernel's entry.
        entry: &'static str,
    },
    /// Another module of the same name was given before.
    ModuleExists {
        /// The module.
        module: &'static str,
    },
    /// A module that was compiled for other GPUs than this device.
    NoCode {
        /// The module.
        module: &'static str,
        /// The oldest compute capability that it is for, major and minor.
        oldest: (u32, u32),
        /// The device's.
        found: (u32, u32),
    },
    /// An image of one device in a launch on another.
    OtherDevice {
        /// Which image.
        image: &'static str,
    },
}

impl CudaError {
    /// Whether a code says that the context is lost: kernels have stopped, and every later call fails.
    pub(crate) fn is_loss(code: Code) -> bool {
        matches!(code.0, 4 | 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719 | 721)
    }
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoDriver => match framewright_driver::status() {
                status @ framewright_driver::DriverStatus::Missing(_) => {
                    write!(f, "no NVIDIA GPU can be used: {status}")
                }
                status => write!(f, "no NVIDIA GPU can be used: {status} finds no device"),
            },
            Self::NoSuchDevice { ordinal, count } => {
                write!(f, "CUDA device: number is {ordinal}, expected below {count} (the count of devices)")
            }
            Self::Driver { call, asked, code } => {
                match asked {
                    Asked::Nothing => write!(f, "{call}: ")?,
                    Asked::Bytes(bytes) => write!(f, "{call} of {bytes} bytes: ")?,
                    Asked::Device(ordinal) => write!(f, "{call} of device {ordinal}: ")?,
                    Asked::Name(name) => write!(f, "{call} of {name}: ")?,
                }
                write!(f, "{}", Code(code))
            }
            Self::ContextLost { call, code } => write!(
                f,
                "{call}: {}; the CUDA context is lost: nothing on this device works any more in this process",
                Code(code)
            ),
            Self::DevicePanic { kernel, file, line, column, place: [bx, by, bz, tx, ty, tz] } => write!(
                f,
                "kernel {kernel} panicked at {file}:{line}:{column} in block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}); \
                 the CUDA context is lost"
            ),
            Self::StaleModule { entry, expected, found } => write!(
                f,
                "kernel {entry}: parameter hash of its PTX is {found:#018x}, expected {expected:#018x}: the PTX was compiled \
                 from other sources than this program"
            ),
            Self::UnknownKernel { module, entry } => write!(
                f,
                "kernel {entry}: no PTX module {module} with it is known to the device, expected \
                 `device.add_kernels(include_kernels!(…))` before the launch"
            ),
            Self::ModuleExists { module } => write!(
                f,
                "PTX module {module}: another module of this name is known to the device, expected a name of its own \
                 (`#[kernel(module = …)]`, or the package's name)"
            ),
            Self::NoCode { module, oldest, found } => write!(
                f,
                "module {module}: the device has compute capability {}.{}, expected one that its code is for, the oldest for \
                 {}.{}",
                found.0, found.1, oldest.0, oldest.1
            ),
            Self::OtherDevice { image } => {
                write!(f, "{image}: lies in another device's memory, expected the memory of the stream's device")
            }
        }
    }
}

impl std::error::Error for CudaError {}
