// Encryption at rest: seals what another store is given of requests (methods, targets, heads,
// bodies, names of tenants) and of answers (fields, bodies), and opens what it gives back. What
// jobs are found and filtered by is not sealed: ids, routes, tenants' numbers, states, causes,
// times, sizes, statuses, the digests of keys and orders. Nor are the details of attempts, which
// are sentences of the proxy.
//
// A value that cannot be opened, because it was tampered with, is empty, or absent in ReadAnswer.
// Methods, targets and names of jobs from before these were sealed are read as they are.
#pragma once

#include <memory>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

std::unique_ptr<JobStore> sealed_with(const Key& key, std::unique_ptr<JobStore> inner);

}  // namespace spillway::store
