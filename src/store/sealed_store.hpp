// Encryption at rest: seals what another store gets of requests (methods, targets, heads, bodies,
// names of tenants) and of answers (fields, bodies), and opens it on reading. Values by which jobs
// are found and filtered are not sealed: ids, routes, tenants' numbers, states, causes, times,
// sizes, statuses, the digests of keys and orders. Nor are the details of attempts, which are
// sentences written by the proxy.
//
// A value that cannot be opened, because it was tampered with, is empty, or absent in ReadAnswer.
// Methods, targets and names of jobs stored before these were sealed are read unchanged.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "store/contract/job_store.hpp"
#include "store/contract/key.hpp"

namespace spillway::store {

// Why the system's OpenSSL cannot seal, in a sentence; nullopt: it can.
std::optional<std::string> cannot_seal(const Key& key);

std::unique_ptr<JobStore> sealed_with(const Key& key, std::unique_ptr<JobStore> inner);

}  // namespace spillway::store
