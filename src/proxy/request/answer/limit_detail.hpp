// A fault's sentence that names the configured limit which the request exceeds, and the value of
// that limit.
#pragma once

#include <string>
#include <string_view>

#include "config/config.hpp"
#include "proxy/request/answer/fault.hpp"

namespace spillway::proxy {

// Empty if it exceeds no configurable limit.
inline std::string limit_detail(const Fault& fault, const config::Limits& limits) {
  const auto above = [](std::string_view what, std::uint64_t limit, std::string_view key) {
    return std::string(what) + " is longer than " + std::to_string(limit) + " bytes (" +
           std::string(key) + ").";
  };
  const std::string_view detail = fault.detail;
  if (fault.reason != Reason::bad_request) return {};
  if (detail == std::string_view(http::describe(http::Error::body_too_large)))
    return above("The body", limits.body_bytes, "limits.body_bytes");
  if (detail == std::string_view(http::describe(http::Error::head_too_large)))
    return above("The header section", limits.header_bytes, "limits.header_bytes");
  return {};
}

}  // namespace spillway::proxy
