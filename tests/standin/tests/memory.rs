//! Device and page-locked memory: checked, poisoned, counted.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "calls of the stand-in, which checks its arguments: that is the test"
)]

mod common;

use std::ffi::c_void;
use std::os::unix::process::ExitStatusExt;
use std::ptr::null_mut;

use common::{Control, allocate, child, context, isolated};
use cust::error::CudaError;
use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
use framewright_driver::sys::{self, Code, MEMORY_TYPE_DEVICE, MEMORY_TYPE_HOST, Memcpy2d};

#[test]
fn copies_there_and_back() {
    isolated("copies_there_and_back", &[], || {
        let _context = context();
        let bytes: Vec<u8> = (0..=255).collect();
        let buffer = DeviceBuffer::from_slice(&bytes).expect("memory");
        assert_eq!(buffer.as_host_vec().expect("a copy"), bytes);
        let device = buffer.as_device_ptr().as_raw();
        let code = unsafe { sys::cuMemcpyDtoH_v2(null_mut(), device, 1) };
        assert_eq!(code, Code::INVALID_VALUE);
    });
}

#[test]
fn fresh_memory_is_poisoned() {
    isolated("fresh_memory_is_poisoned", &[], || {
        let _context = context();
        let buffer = unsafe { DeviceBuffer::<u8>::uninitialized(1000) }.expect("memory");
        let mut bytes = vec![0; 1000];
        buffer.copy_to(&mut bytes).expect("a copy");
        assert!(bytes.iter().all(|&byte| byte == 0xA5));
        let locked = unsafe { LockedBuffer::<u8>::uninitialized(1000) }.expect("memory");
        assert!(locked.iter().all(|&byte| byte == 0x5A));
    });
}

#[test]
fn copies_outside_are_refused() {
    isolated("copies_outside_are_refused", &[], || {
        let _context = context();
        let device = allocate(100).expect("memory");
        let mut host = vec![0_u8; 200];
        let to = host.as_mut_ptr().cast();
        let down = |from: u64, bytes| unsafe { sys::cuMemcpyDtoH_v2(to, from, bytes) };
        assert_eq!(down(device, 100), Code::SUCCESS);
        assert_eq!(down(device + 99, 1), Code::SUCCESS);
        assert_eq!(down(device, 101), Code::INVALID_VALUE);
        assert_eq!(down(device + 1, 100), Code::INVALID_VALUE);
        assert_eq!(down(device - 1, 1), Code::INVALID_VALUE);
        // A host address where the device's is due, and the other way round.
        assert_eq!(down(host.as_ptr() as u64, 1), Code::INVALID_VALUE);
        let code = unsafe { sys::cuMemcpyDtoH_v2(device as *mut _, device, 1) };
        assert_eq!(code, Code::INVALID_VALUE);
        assert_eq!(unsafe { sys::cuMemsetD8Async(device, 0, 101, null_mut()) }, Code::INVALID_VALUE);
        // Inside page-locked memory the host side is checked, too.
        let locked = LockedBuffer::new(&0_u8, 64).expect("memory");
        let code = unsafe { sys::cuMemcpyHtoD_v2(device, locked.as_ptr().cast(), 65) };
        assert_eq!(code, Code::INVALID_VALUE);
    });
}

#[test]
fn frees_are_checked() {
    isolated("frees_are_checked", &[], || {
        let _context = context();
        let device = allocate(100).expect("memory");
        assert_eq!(unsafe { sys::cuMemFree_v2(device + 1) }, Code::INVALID_VALUE);
        assert_eq!(unsafe { sys::cuMemFree_v2(device) }, Code::SUCCESS);
        assert_eq!(unsafe { sys::cuMemFree_v2(device) }, Code::INVALID_VALUE);
        let mut byte = 0_u8;
        assert_eq!(unsafe { sys::cuMemcpyDtoH_v2((&raw mut byte).cast(), device, 1) }, Code::INVALID_VALUE);
        let mut host = null_mut();
        assert_eq!(unsafe { sys::cuMemHostAlloc(&mut host, 10, 0) }, Code::SUCCESS);
        assert_eq!(unsafe { sys::cuMemFreeHost(host) }, Code::SUCCESS);
        assert_eq!(unsafe { sys::cuMemFreeHost(host) }, Code::INVALID_VALUE);
    });
}

#[test]
fn free_on_a_stream_is_deferred_but_final() {
    isolated("free_on_a_stream_is_deferred_but_final", &[], || {
        let _context = context();
        let control = Control::new();
        let mut device = 0;
        assert_eq!(unsafe { sys::cuMemAllocAsync(&mut device, 10, null_mut()) }, Code::SUCCESS);
        assert_eq!(unsafe { sys::cuMemFreeAsync(device, null_mut()) }, Code::SUCCESS);
        assert_eq!(control.live("allocations"), 1);
        assert_eq!(unsafe { sys::cuMemFreeAsync(device, null_mut()) }, Code::INVALID_VALUE);
        assert_eq!(unsafe { sys::cuMemsetD8Async(device, 0, 10, null_mut()) }, Code::INVALID_VALUE);
        assert_eq!(unsafe { sys::cuStreamSynchronize(null_mut()) }, Code::SUCCESS);
        assert_eq!(control.live("allocations"), 0);
    });
}

#[test]
fn memory_is_limited() {
    isolated("memory_is_limited", &[("FRAMEWRIGHT_STANDIN_MEMORY", "1000")], || {
        let _context = context();
        let half = unsafe { DeviceBuffer::<u8>::uninitialized(600) }.expect("memory");
        let more = unsafe { DeviceBuffer::<u8>::uninitialized(401) };
        assert_eq!(more.err(), Some(CudaError::OutOfMemory));
        let (mut free, mut total) = (0, 0);
        assert_eq!(unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) }, Code::SUCCESS);
        assert_eq!((free, total), (400, 1000));
        drop(half);
        assert!(unsafe { DeviceBuffer::<u8>::uninitialized(1000) }.is_ok());
    });
}

#[test]
fn pitched_memory_and_rectangles() {
    isolated("pitched_memory_and_rectangles", &[], || {
        let _context = context();
        let (mut device, mut pitch) = (0, 0);
        assert_eq!(unsafe { sys::cuMemAllocPitch_v2(&mut device, &mut pitch, 513, 4, 4) }, Code::SUCCESS);
        assert_eq!(pitch, 1024);
        assert_eq!(unsafe { sys::cuMemAllocPitch_v2(&mut device, &mut pitch, 512, 4, 3) }, Code::INVALID_VALUE);

        let host: Vec<u8> = (0..64).collect();
        let mut copy = Memcpy2d {
            src_x_in_bytes: 1,
            src_y: 1,
            src_memory_type: MEMORY_TYPE_HOST,
            src_host: host.as_ptr().cast(),
            src_device: 0,
            src_array: null_mut(),
            src_pitch: 8,
            dst_x_in_bytes: 510,
            dst_y: 2,
            dst_memory_type: MEMORY_TYPE_DEVICE,
            dst_host: null_mut(),
            dst_device: device,
            dst_array: null_mut(),
            dst_pitch: 1024,
            width_in_bytes: 3,
            height: 2,
        };
        let (legacy, copy_2d) = (null_mut(), sys::cuMemcpy2DAsync_v2);
        assert_eq!(unsafe { copy_2d(&copy, legacy) }, Code::SUCCESS);
        let mut rows = vec![0_u8; 4096];
        assert_eq!(unsafe { sys::cuMemcpyDtoH_v2(rows.as_mut_ptr().cast(), device, 4096) }, Code::SUCCESS);
        for (at, &byte) in rows.iter().enumerate() {
            let (x, y) = (at % 1024, at / 1024);
            let inside = (510..513).contains(&x) && (2..4).contains(&y);
            let expected = if inside { host[(y - 2 + 1) * 8 + x - 510 + 1] } else { 0xA5 };
            assert_eq!(byte, expected, "({x}, {y})");
        }

        // One row too many, a pitch shorter than a row.
        copy.height = 3;
        assert_eq!(unsafe { copy_2d(&copy, legacy) }, Code::INVALID_VALUE);
        copy.height = 2;
        copy.src_pitch = 3;
        assert_eq!(unsafe { copy_2d(&copy, legacy) }, Code::INVALID_VALUE);
        // The last row may be short: its end is the allocation's end.
        copy.src_pitch = 8;
        copy.dst_x_in_bytes = 1021;
        assert_eq!(unsafe { copy_2d(&copy, legacy) }, Code::SUCCESS);
        copy.dst_x_in_bytes = 1022;
        assert_eq!(unsafe { copy_2d(&copy, legacy) }, Code::INVALID_VALUE);
    });
}

#[test]
fn addresses_say_what_they_are() {
    isolated("addresses_say_what_they_are", &[], || {
        let context = context();
        let device = allocate(100).expect("memory");
        let locked = LockedBuffer::new(&0_u8, 64).expect("memory");
        let stack = 0_u8;
        let kind = |pointer: u64| {
            let (mut kind, mut ordinal, mut owner) = (9_u32, 9_i32, null_mut::<c_void>() as sys::CUcontext);
            let mut numbers = [2, 9, 1];
            let mut data = [(&raw mut kind).cast(), (&raw mut ordinal).cast(), (&raw mut owner).cast()];
            let code = unsafe { sys::cuPointerGetAttributes(3, numbers.as_mut_ptr(), data.as_mut_ptr(), pointer) };
            assert_eq!(code, Code::SUCCESS);
            (kind, ordinal, owner)
        };
        assert_eq!(kind(device + 5), (2, 0, context.as_raw()));
        assert_eq!(kind(locked.as_ptr() as u64), (1, 0, context.as_raw()));
        assert_eq!(kind(&raw const stack as u64), (0, -2, null_mut()));
        let mut data = 0_u32;
        let pointer = &raw const stack as u64;
        let code = unsafe { sys::cuPointerGetAttribute((&raw mut data).cast(), 2, pointer) };
        assert_eq!(code, Code::INVALID_VALUE);
        let (mut base, mut bytes) = (0, 0);
        assert_eq!(unsafe { sys::cuMemGetAddressRange_v2(&mut base, &mut bytes, device + 5) }, Code::SUCCESS);
        assert_eq!((base, bytes), (device, 100));
    });
}

#[test]
fn host_code_cannot_read_device_memory() {
    let output = child("host_code_cannot_read_device_memory", &[], || {
        let _context = context();
        let device = allocate(100).expect("memory");
        println!("reads");
        // Not sound, of course: it must end the process.
        let byte = unsafe { std::ptr::read_volatile(device as *const u8) };
        println!("read {byte}");
    });
    let Some(output) = output else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("reads\n") && !text.contains("read 165"), "{text}");
    assert_eq!(output.status.signal(), Some(11), "{output:?}");
}

#[test]
fn nothing_is_left_or_it_is_counted() {
    isolated("nothing_is_left_or_it_is_counted", &[], || {
        let context = context();
        let control = Control::new();
        let kinds = ["allocations", "bytes", "pinned", "streams", "events", "modules"];
        {
            let _buffer = DeviceBuffer::from_slice(&[1_u8; 10]).expect("memory");
            let _locked = LockedBuffer::new(&0_u8, 64).expect("memory");
            let _stream = cust::stream::Stream::new(cust::stream::StreamFlags::DEFAULT, None).expect("a stream");
            let _event = cust::event::Event::new(cust::event::EventFlags::DEFAULT).expect("an event");
            let ptx = ".version 7.0\n.target sm_75\n.visible .global .u64 A = 1;\n";
            let _module = cust::module::Module::from_ptx(ptx, &[]).expect("a module");
            let live: Vec<u64> = kinds.iter().map(|kind| control.live(kind)).collect();
            assert_eq!(live, [1, 10 + 8, 1, 1, 1, 1]);
        }
        assert!(kinds.iter().all(|kind| control.live(kind) == 0));
        std::mem::forget(DeviceBuffer::from_slice(&[1_u8; 10]).expect("memory"));
        assert_eq!(control.live("allocations"), 1);
        assert_eq!(control.calls("cuMemAlloc_v2"), 2);
        assert_eq!(control.live("abandoned"), 0);
        drop(context);
        assert_eq!((control.live("allocations"), control.live("abandoned")), (0, 1));
        assert_eq!((control.live("contexts"), control.live("retained")), (0, 0));
    });
}
