// Whether a job matches a filter.
#pragma once

#include "store/contract/command.hpp"

namespace spillway::store {

bool includes(const Filter& filter, const jobs::JobView& job);

}  // namespace spillway::store
