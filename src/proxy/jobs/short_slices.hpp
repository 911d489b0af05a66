// A thread that works for moments, and waits for the disk between them.
#pragma once

namespace spillway::proxy {

// Lets the calling thread run as soon as it wakes, in place of others that have work all the time:
// it asks for slices of 0.1 ms (sched_setattr(2), from Linux 6.12 on; nothing on an earlier one).
// Its part of the time is the same. Without effect on a thread with a real-time policy.
void take_short_slices();

}  // namespace spillway::proxy
