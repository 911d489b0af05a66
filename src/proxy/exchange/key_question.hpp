// Asks the store whether it knows an Idempotency-Key, for a request that does not wait for long.
#pragma once

#include <memory>

#include "proxy/exchange/services.hpp"
#include "proxy/jobs/job_queue.hpp"
#include "proxy/net/parking.hpp"
#include "proxy/net/task.hpp"

namespace spillway::proxy {

// False if it does not, or has not answered by `until`.
Task<bool> is_known_key(Services& services, Parking& parking, jobs::Digest scope, TimePoint until);

}  // namespace spillway::proxy
