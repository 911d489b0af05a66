// The law that a configuration names.
#pragma once

#include <cstdint>
#include <memory>

#include "config/config.hpp"
#include "overload/limit/concurrency_limit.hpp"

namespace spillway::overload {

// `least`: no limit is lower, whatever `settings` say. In shadow mode, where no law can find a
// limit, SeenLimit.
std::unique_ptr<ConcurrencyLimit> make_limit(const config::AutoConcurrency& settings,
                                             std::uint32_t least, config::Mode mode);

}  // namespace spillway::overload
