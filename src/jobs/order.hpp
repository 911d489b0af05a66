// Which jobs run one after another (`order_by`).
#pragma once

#include <string_view>

#include "jobs/job.hpp"

namespace spillway::jobs {

// For all clients without a verified tenant that send this value.
Digest order_of(std::string_view value);

// For a verified tenant on a route: no other client gets into this order, whatever value it sends.
Digest order_of(std::string_view route, std::string_view tenant, std::string_view value);

}  // namespace spillway::jobs
