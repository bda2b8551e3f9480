//! Streams and events: work waits until somebody waits for it.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "calls of the stand-in, which checks its arguments: that is the test"
)]

mod common;

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{Control, allocate, context, isolated};
use cust::event::{Event, EventFlags, EventStatus};
use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags, StreamWaitEventFlags};
use framewright_driver::sys::{self, CUstream, Code};

fn stream() -> Stream {
    Stream::new(StreamFlags::DEFAULT, None).expect("a stream")
}

/// A stream that the legacy stream does not wait for. `cust` takes that flag away.
fn independent() -> CUstream {
    let mut stream = null_mut();
    assert_eq!(unsafe { sys::cuStreamCreate(&mut stream, 1) }, Code::SUCCESS);
    stream
}

/// Reads the byte on the stream; it is there after a wait.
fn read(byte: &mut u8, device: u64, stream: CUstream) {
    assert_eq!(unsafe { sys::cuMemcpyDtoHAsync_v2((&raw mut *byte).cast(), device, 1, stream) }, Code::SUCCESS);
}

fn fill(device: u64, value: u8, stream: CUstream) {
    assert_eq!(unsafe { sys::cuMemsetD8Async(device, value, 1, stream) }, Code::SUCCESS);
}

fn wait(stream: CUstream) {
    assert_eq!(unsafe { sys::cuStreamSynchronize(stream) }, Code::SUCCESS);
}

#[test]
fn bytes_arrive_at_the_wait() {
    isolated("bytes_arrive_at_the_wait", &[], || {
        let _context = context();
        let (stream, other) = (stream(), stream());
        let mut buffer = unsafe { DeviceBuffer::<u8>::uninitialized(4) }.expect("memory");
        let (mut source, mut result) = (vec![1_u8, 2, 3, 4], vec![0_u8; 4]);
        unsafe { buffer.async_copy_from(&source, &stream) }.expect("a copy");
        unsafe { buffer.async_copy_to(&mut result, &stream) }.expect("a copy");
        assert_eq!(result, [0; 4]);
        other.synchronize().expect("nothing to do");
        assert_eq!(result, [0; 4]);
        // The source is still wanted.
        source[0] = 9;
        stream.synchronize().expect("two copies");
        assert_eq!(result, [9, 2, 3, 4]);
    });
}

#[test]
fn a_stream_keeps_its_order() {
    isolated("a_stream_keeps_its_order", &[], || {
        let _context = context();
        let (device, stream) = (allocate(1).expect("memory"), independent());
        let mut seen = [0_u8; 3];
        for (value, byte) in seen.iter_mut().enumerate() {
            fill(device, value as u8 + 1, stream);
            read(byte, device, stream);
        }
        wait(stream);
        assert_eq!(seen, [1, 2, 3]);
    });
}

#[test]
fn the_legacy_stream_waits_for_blocking_streams_only() {
    isolated("the_legacy_stream_waits_for_blocking_streams_only", &[], || {
        let _context = context();
        let (one, two) = (allocate(1).expect("memory"), allocate(1).expect("memory"));
        let (blocking, independent) = (stream(), independent());
        fill(one, 1, blocking.as_inner());
        fill(two, 2, independent);
        let (mut a, mut b) = (0_u8, 0_u8);
        assert_eq!(unsafe { sys::cuMemcpyDtoH_v2((&raw mut a).cast(), one, 1) }, Code::SUCCESS);
        assert_eq!(unsafe { sys::cuMemcpyDtoH_v2((&raw mut b).cast(), two, 1) }, Code::SUCCESS);
        assert_eq!((a, b), (1, 0xA5));
        // And a blocking stream waits for the legacy stream, an independent one does not.
        fill(one, 3, null_mut());
        read(&mut b, one, independent);
        wait(independent);
        assert_eq!(b, 1);
        read(&mut a, one, blocking.as_inner());
        wait(blocking.as_inner());
        assert_eq!(a, 3);
    });
}

#[test]
fn events_order_streams() {
    isolated("events_order_streams", &[], || {
        let _context = context();
        let (producer, consumer) = (stream(), stream());
        let device = allocate(1).expect("memory");
        let mut without = 0_u8;
        fill(device, 1, producer.as_inner());
        read(&mut without, device, consumer.as_inner());
        wait(consumer.as_inner());
        assert_eq!(without, 0xA5, "no event, no order");

        let event = Event::new(EventFlags::DEFAULT).expect("an event");
        event.record(&producer).expect("an event");
        fill(device, 2, producer.as_inner());
        // cust drops the event here; the wait stays.
        consumer.wait_event(event, StreamWaitEventFlags::DEFAULT).expect("an event");
        let mut with = 0_u8;
        read(&mut with, device, consumer.as_inner());
        wait(consumer.as_inner());
        assert_eq!(with, 1, "up to the event, and no further");
        wait(producer.as_inner());
    });
}

#[test]
fn queries_make_progress() {
    isolated("queries_make_progress", &[], || {
        let _context = context();
        let stream = stream();
        let device = allocate(1).expect("memory");
        let event = Event::new(EventFlags::DEFAULT).expect("an event");
        assert_eq!(event.query(), Ok(EventStatus::Ready), "never recorded");
        fill(device, 1, stream.as_inner());
        fill(device, 2, stream.as_inner());
        event.record(&stream).expect("an event");
        fill(device, 3, stream.as_inner());
        assert_eq!(event.query(), Ok(EventStatus::NotReady));
        assert_eq!(event.query(), Ok(EventStatus::NotReady));
        assert_eq!(event.query(), Ok(EventStatus::Ready));
        assert_eq!(Control::new().live("queued"), 1);
        assert_eq!(unsafe { sys::cuStreamQuery(stream.as_inner()) }, Code::SUCCESS);
    });
}

#[test]
fn events_measure_time() {
    isolated("events_measure_time", &[], || {
        let _context = context();
        let stream = stream();
        let (start, end) = (Event::new(EventFlags::DEFAULT), Event::new(EventFlags::DEFAULT));
        let (start, end) = (start.expect("an event"), end.expect("an event"));
        let untimed = Event::new(EventFlags::DISABLE_TIMING).expect("an event");
        for event in [&start, &end, &untimed] {
            event.record(&stream).expect("an event");
        }
        assert!(end.elapsed_time_f32(&start).is_err(), "not there yet");
        stream.synchronize().expect("events");
        assert!(end.elapsed_time_f32(&start).expect("a time") > 0.0);
        assert!(end.elapsed_time_f32(&untimed).is_err());
    });
}

#[test]
fn destroying_and_context_waits_run_what_is_queued() {
    isolated("destroying_and_context_waits_run_what_is_queued", &[], || {
        let _context = context();
        let device = allocate(1).expect("memory");
        let mut bytes = [0_u8; 2];
        let stream = stream();
        fill(device, 7, stream.as_inner());
        read(&mut bytes[0], device, stream.as_inner());
        drop(stream);
        assert_eq!(bytes[0], 7);
        read(&mut bytes[1], device, independent());
        cust::context::CurrentContext::synchronize().expect("a copy");
        assert_eq!(bytes[1], 7);
    });
}

#[test]
fn host_functions_run_in_order_and_call_nothing() {
    isolated("host_functions_run_in_order_and_call_nothing", &[], || {
        static SEEN: AtomicU32 = AtomicU32::new(0);
        unsafe extern "C" fn inside(data: *mut c_void) {
            let code = common::allocate(1).expect_err("no call is permitted here");
            SEEN.store(code.0 * 1000 + data as u32, Ordering::SeqCst);
        }
        let _context = context();
        assert_eq!(unsafe { sys::cuLaunchHostFunc(null_mut(), inside, 5 as *mut c_void) }, Code::SUCCESS);
        assert_eq!(SEEN.load(Ordering::SeqCst), 0);
        wait(null_mut());
        assert_eq!(SEEN.load(Ordering::SeqCst), 800_005);
        assert!(allocate(1).is_ok());
    });
}

#[test]
fn queues_run_by_themselves_when_asked() {
    isolated("queues_run_by_themselves_when_asked", &[("FRAMEWRIGHT_STANDIN_BACKGROUND", "1")], || {
        static DONE: AtomicU32 = AtomicU32::new(0);
        unsafe extern "C" fn done(_: *mut c_void) {
            DONE.store(1, Ordering::SeqCst);
        }
        let _context = context();
        assert_eq!(unsafe { sys::cuLaunchHostFunc(null_mut(), done, null_mut()) }, Code::SUCCESS);
        let start = Instant::now();
        while DONE.load(Ordering::SeqCst) == 0 {
            assert!(start.elapsed() < Duration::from_secs(10), "nobody runs the queue");
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_test_can_let_the_device_run() {
    isolated("a_test_can_let_the_device_run", &[], || {
        let _context = context();
        let device = allocate(1).expect("memory");
        let mut byte = 0;
        fill(device, 3, null_mut());
        read(&mut byte, device, null_mut());
        Control::new().run();
        assert_eq!(byte, 3);
    });
}

#[test]
fn eight_threads_with_their_own_streams() {
    isolated("eight_threads_with_their_own_streams", &[], || {
        let context = context();
        let shared = allocate(8).expect("memory");
        std::thread::scope(|scope| {
            for thread in 0..8_u8 {
                let raw = context.as_raw() as usize;
                scope.spawn(move || {
                    assert_eq!(unsafe { sys::cuCtxSetCurrent(raw as _) }, Code::SUCCESS);
                    let (device, stream) = (allocate(1).expect("memory"), independent());
                    for round in 0..100_u8 {
                        let mut byte = 0;
                        let value = thread.wrapping_mul(31) ^ round;
                        fill(device, value, stream);
                        let to = shared + u64::from(thread);
                        assert_eq!(unsafe { sys::cuMemcpyDtoDAsync_v2(to, device, 1, stream) }, Code::SUCCESS);
                        read(&mut byte, to, stream);
                        wait(stream);
                        assert_eq!(byte, value);
                    }
                });
            }
        });
    });
}

#[test]
fn four_threads_wait_for_one_stream() {
    isolated("four_threads_wait_for_one_stream", &[], || {
        static RUNNING: AtomicU32 = AtomicU32::new(0);
        static DONE: AtomicU32 = AtomicU32::new(0);
        static WRONG: AtomicU32 = AtomicU32::new(0);
        unsafe extern "C" fn run(data: *mut c_void) {
            let alone = RUNNING.fetch_add(1, Ordering::SeqCst) == 0;
            std::thread::sleep(Duration::from_millis(1));
            let in_order = DONE.fetch_add(1, Ordering::SeqCst) == data as u32;
            WRONG.fetch_add(u32::from(!(alone && in_order)), Ordering::SeqCst);
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
        let context = context();
        let stream = independent();
        for number in 0..20_usize {
            let number = number as *mut c_void;
            assert_eq!(unsafe { sys::cuLaunchHostFunc(stream, run, number) }, Code::SUCCESS);
        }
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (raw, stream, start) = (context.as_raw() as usize, stream as usize, &start);
                scope.spawn(move || {
                    assert_eq!(unsafe { sys::cuCtxSetCurrent(raw as _) }, Code::SUCCESS);
                    start.wait();
                    wait(stream as _);
                    assert_eq!(DONE.load(Ordering::SeqCst), 20, "the wait returned too early");
                });
            }
        });
        assert_eq!(WRONG.load(Ordering::SeqCst), 0, "operations ran at once or out of order");
    });
}
