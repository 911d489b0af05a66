// A result as lines of JSON, one for each class, for all, and for each tenant: bench/README.md says
// what the fields are.
#pragma once

#include <string>

#include "bench/overload/result.hpp"

namespace spillway::bench {

// Each line ends. A result that failed is one line with the failure.
std::string result_lines(const Result& result);

}  // namespace spillway::bench
