//! Submitted work: owns its images until it is done.

use super::{event::Event, scope::Scope, stream::Stream};
use crate::error::Error;
use std::{
    fmt,
    future::Future,
    mem::ManuallyDrop,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// Work on a stream that owns its images: wait for it, or `.await` it, to get them back. Dropping it waits.
#[must_use = "dropping it waits for the work"]
pub struct Pending<T: Send + 'static> {
    /// Images, and the temporaries of the scope. Not dropped while the device may still use them.
    owned: ManuallyDrop<Option<Box<Owned<T>>>>,
    event: Event,
    stream: Stream,
    /// Set once a thread waits on behalf of a task.
    waker: Option<Arc<Mutex<Option<Waker>>>>,
}

struct Owned<T> {
    images: T,
    #[allow(dead_code)] // held to be dropped
    temporaries: Vec<Box<dyn Send>>,
}

/// Why work was not submitted, with the images where the device has let go of them.
pub struct Failed<T> {
    /// What went wrong.
    pub error: Error,
    /// The images, as they were given.
    pub images: T,
}

impl<T> From<Failed<T>> for Error {
    fn from(failed: Failed<T>) -> Self {
        failed.error
    }
}
impl<T> fmt::Debug for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Failed({:?})", self.error)
    }
}
impl<T> fmt::Display for Failed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}
impl<T> std::error::Error for Failed<T> {}

impl Stream {
    /// Queues the work of `work` on `images`, which are owned until it is done, and returns at once.
    ///
    /// # Errors
    /// What `work` returns, or what the driver says, with the images: then the call has waited for what was queued before the
    /// failure.
    ///
    /// ```no_run
    /// # use framewright::{cuda::*, *};
    /// # fn f(stream: &Stream, nv12: Image<Nv12, Cuda>, bgr: Image<Bgr8, Cuda>) -> Result<(), Error> {
    /// let pending = stream.submit((nv12, bgr), |scope, (nv12, bgr)| {
    ///     scope.convert(&*nv12, bgr, &Conversion::new()).map(drop)
    /// })?;
    /// // The host goes on here.
    /// let (nv12, bgr) = pending.wait()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn submit<T, W>(&self, images: T, work: W) -> Result<Pending<T>, Failed<T>>
    where
        T: Send + 'static,
        W: for<'scope> FnOnce(&'scope Scope<'scope, 'scope>, &'scope mut T) -> Result<(), Error>,
    {
        let mut owned = Box::new(Owned { images, temporaries: Vec::new() });
        let scope = Scope::unsettled(self);
        let images: *mut T = &raw mut owned.images;
        let place: *const Scope<'_, '_> = &raw const scope;
        // If `work` panics the images are leaked with the box, and the stream is waited for.
        let guard = Settle { stream: self, owned: ManuallyDrop::new(owned) };
        // SAFETY: the box is not touched while `work` runs. Views that `work` makes live no longer than its own call allows:
        // for any 'scope it must do, so nothing with that lifetime gets out. The device uses the memory until the event below,
        // and the box is kept until then.
        let queued = work(unsafe { &*place }, unsafe { &mut *images });
        let mut owned = guard.finish();
        owned.temporaries = scope.into_temporaries();
        match queued.and_then(|()| self.record()) {
            Ok(event) => {
                Ok(Pending { owned: ManuallyDrop::new(Some(owned)), event, stream: self.clone(), waker: None })
            }
            Err(error) => {
                // An error of the wait is older news than the one at hand: the context is lost in both.
                let _ = self.inner.settle();
                Err(Failed { error, images: owned.images })
            }
        }
    }
}

/// Waits if `work` panics, and leaks what the device may still use.
struct Settle<'a, T> {
    stream: &'a Stream,
    owned: ManuallyDrop<Box<Owned<T>>>,
}

impl<T> Settle<'_, T> {
    fn finish(self) -> Box<Owned<T>> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, and `this` is not dropped.
        unsafe { ManuallyDrop::take(&mut this.owned) }
    }
}

impl<T> Drop for Settle<'_, T> {
    fn drop(&mut self) {
        let _ = self.stream.inner.settle();
    }
}

impl<T: Send + 'static> Pending<T> {
    /// Waits, and gives the images back.
    ///
    /// # Errors
    /// As [`Stream::synchronize`]. The images are kept then: the device may not have let go of them.
    pub fn wait(mut self) -> Result<T, Error> {
        self.event.wait()?;
        Ok(self.take())
    }

    /// Whether the work is done.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn is_done(&self) -> Result<bool, Error> {
        self.event.is_reached()
    }

    fn take(&mut self) -> T {
        match self.owned.take() {
            Some(owned) => owned.images,
            None => panic!("a finished `Pending` was polled again"),
        }
    }
}

impl<T: Send + 'static> Drop for Pending<T> {
    fn drop(&mut self) {
        // Where the wait fails the memory is kept.
        if self.owned.is_some() && self.event.wait().is_ok() {
            // SAFETY: dropped once, here; the work is done.
            unsafe { ManuallyDrop::drop(&mut self.owned) };
        }
    }
}

impl<T: Send + 'static> Unpin for Pending<T> {}

impl<T: Send + 'static> Future for Pending<T> {
    type Output = Result<T, Error>;

    /// The first time the work is not done, a thread starts that waits for it and wakes the task: also when the context is
    /// lost, of which the driver's own callbacks would not tell.
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(slot) = &this.waker {
            *slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(task.waker().clone());
        }
        match this.event.is_reached() {
            Ok(true) => return Poll::Ready(Ok(this.take())),
            Ok(false) => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        if this.waker.is_none() {
            let slot = Arc::new(Mutex::new(Some(task.waker().clone())));
            let event = match this.stream.record() {
                Ok(event) => event,
                Err(error) => return Poll::Ready(Err(error)),
            };
            let waker = slot.clone();
            let wait = move || {
                // An error wakes, too: the next poll tells it.
                let _ = event.wait();
                if let Some(waker) = waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
                    waker.wake();
                }
            };
            if std::thread::Builder::new().name("framewright-wait".into()).spawn(wait).is_err() {
                // No thread to be had: ask again at once.
                task.waker().wake_by_ref();
                return Poll::Pending;
            }
            this.waker = Some(slot);
        }
        Poll::Pending
    }
}

impl<T: Send + 'static> fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pending work on {:?}", self.stream)
    }
}
