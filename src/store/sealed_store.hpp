// Encryption at rest: seals what another store is given (heads and bodies of requests, fields and
// bodies of answers) and opens what it gives back. Methods, targets, tenants and details of
// attempts are not sealed: lists show them.
//
// A value that cannot be opened, because it was tampered with, is empty, or absent in ReadAnswer.
#pragma once

#include <memory>

#include "store/job_store.hpp"
#include "store/key.hpp"

namespace spillway::store {

std::unique_ptr<JobStore> sealed_with(const Key& key, std::unique_ptr<JobStore> inner);

}  // namespace spillway::store
