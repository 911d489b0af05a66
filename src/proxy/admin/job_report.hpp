// Deferred requests as JSON, for the admin pages. docs/openapi.yaml has the schemas.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "jobs/job.hpp"
#include "store/contract/command.hpp"

namespace spillway::proxy {

// How many bytes of a body are shown.
inline constexpr std::size_t kShownBody = 4096;

nlohmann::ordered_json job_report(const jobs::JobView& job);
// `found.job` must be set, and `found.body` at most kShownBody bytes. A body in UTF-8 is shown as
// text, any other in base64.
nlohmann::ordered_json inspected_report(const store::Inspect& found);

// Without the values of Authorization, Proxy-Authorization, Cookie and X-Api-Key.
std::string redacted_head(std::string_view head);

}  // namespace spillway::proxy
