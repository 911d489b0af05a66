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
#include <optional>
#include <string>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

// What keeps the system's OpenSSL from sealing, in a sentence; nullopt: nothing.
std::optional<std::string> cannot_seal(const Key& key);

std::unique_ptr<JobStore> sealed_with(const Key& key, std::unique_ptr<JobStore> inner);

}  // namespace spillway::store
