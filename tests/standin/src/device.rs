//! `cuInit`, errors' names, devices.

use std::ffi::{CStr, c_char};

use crate::call::{api, put};
use crate::code::{Code, texts};
use crate::state::{lock, number};

/// Every device's name.
const NAME: &CStr = c"framewright stand-in";

/// Memory of a device in bytes.
pub(crate) fn total_memory() -> usize {
    number("FRAMEWRIGHT_STANDIN_MEMORY", 8 << 30) as usize
}

/// An attribute of every device, by its number; those of a plausible large device of compute capability 9.0.
fn attribute(number: u32, device: i32) -> Option<i32> {
    Some(match number {
        1 => 1024,                         // threads a block
        2 | 3 => 1024,                     // block x, y
        4 => 64,                           // block z
        5 => i32::MAX,                     // grid x
        6 | 7 => 65535,                    // grid y, z
        8 => 48 << 10,                     // shared memory a block
        9 => 64 << 10,                     // constant memory
        10 => 32,                          // warp
        11 => i32::MAX,                    // pitch of copies
        12 | 82 => 65536,                  // registers a block, a multiprocessor
        13 | 36 => 1_980_000,              // clocks, kHz
        14 => 512,                         // texture alignment
        15 | 19 | 31 | 41 | 78 | 115 => 1, // overlap, mapped host memory, concurrent kernels, unified addresses, priorities, pools
        16 => 132,                         // multiprocessors
        33 => device + 1,                  // PCI bus
        37 => 6144,                        // bus width
        38 => 60 << 20,                    // L2 bytes
        39 => 2048,                        // threads a multiprocessor
        40 => 3,                           // copy engines
        75 => 9,                           // compute capability
        76 => 0,
        81 => 228 << 10, // shared memory a multiprocessor
        97 => 227 << 10, // shared memory a block may ask for
        17..=140 => 0,
        _ => return None,
    })
}

api! {
    Nothing fn cuInit(flags: u32) |_| {
        if flags != 0 {
            return Err(Code::INVALID_VALUE);
        }
        let mut state = lock();
        if state.primaries.is_empty() {
            return Err(Code::NO_DEVICE);
        }
        state.initialised = true;
        Ok(())
    }

    Nothing fn cuDriverGetVersion(version: *mut i32) |_| {
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(version, number("FRAMEWRIGHT_STANDIN_VERSION", 13_000) as i32) }
    }

    Nothing fn cuGetErrorName(error: u32, name: *mut *const c_char) |_| {
        let text = texts(error).map(|(name, _)| name.as_ptr());
        // SAFETY: the caller keeps the driver's contract: null or memory for one pointer.
        unsafe { put(name, text.unwrap_or(std::ptr::null()))? };
        text.map(drop).ok_or(Code::INVALID_VALUE)
    }

    Nothing fn cuGetErrorString(error: u32, string: *mut *const c_char) |_| {
        let text = texts(error).map(|(_, text)| text.as_ptr());
        // SAFETY: the caller keeps the driver's contract: null or memory for one pointer.
        unsafe { put(string, text.unwrap_or(std::ptr::null()))? };
        text.map(drop).ok_or(Code::INVALID_VALUE)
    }

    Init fn cuDeviceGetCount(count: *mut i32) |_| {
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(count, lock().primaries.len() as i32) }
    }

    Init fn cuDeviceGet(device: *mut i32, ordinal: i32) |_| {
        lock().device(ordinal)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(device, ordinal) }
    }

    Init fn cuDeviceGetName(name: *mut c_char, length: i32, device: i32) |_| {
        lock().device(device)?;
        let length = usize::try_from(length).map_err(|_| Code::INVALID_VALUE)?;
        if name.is_null() || length == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let text = NAME.to_bytes();
        let kept = text.len().min(length - 1);
        // SAFETY: the caller gives `length` bytes, of which `kept` and a terminator are written.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), kept) };
        // SAFETY: as above.
        unsafe { name.add(kept).write(0) };
        Ok(())
    }

    Init fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32) |_| {
        lock().device(device)?;
        let mut value = *b"fw-standin-uuid0";
        value[15] += device as u8;
        // SAFETY: the caller keeps the driver's contract: null or memory for 16 bytes.
        unsafe { put(uuid, value) }
    }

    Init fn cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) |_| {
        lock().device(device)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one size.
        unsafe { put(bytes, total_memory()) }
    }

    Init fn cuDeviceGetAttribute(value: *mut i32, number: u32, device: i32) |_| {
        lock().device(device)?;
        let found = attribute(number, device).ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the caller keeps the driver's contract: null or memory for one int.
        unsafe { put(value, found) }
    }

    Init fn cuDeviceGetDefaultMemPool(pool: *mut u64, device: i32) |_| {
        let device = lock().device(device)? as u64;
        // SAFETY: the caller keeps the driver's contract: null or memory for one handle.
        unsafe { put(pool, POOL + device) }
    }

    Init fn cuMemPoolSetAttribute(pool: u64, _attribute: u32, value: *mut u64) |_| {
        if value.is_null() { Err(Code::INVALID_VALUE) } else { is_pool(pool) }
    }

    Init fn cuMemPoolTrimTo(pool: u64, _keep: usize) |_| {
        is_pool(pool)
    }
}

/// The handle of device 0's pool. A pool here has no state.
const POOL: u64 = 0x5B00_0000_0000;

fn is_pool(pool: u64) -> crate::code::Answer {
    let device = pool.checked_sub(POOL).and_then(|device| i32::try_from(device).ok());
    lock().device(device.ok_or(Code::INVALID_VALUE)?).map(drop).map_err(|_| Code::INVALID_VALUE)
}
