// The access log of a proxy in a process of its own, as an operator reads it.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "support/proxy_process.hpp"

namespace spillway::support {

// The line of the request with this id, which appears nowhere else.
inline nlohmann::json access_line(ProxyProcess& proxy, const std::string& request_id) {
  const Deadline deadline;
  std::size_t end = std::string::npos;
  std::size_t found = 0;
  while (end == std::string::npos) {
    REQUIRE(!deadline.passed());
    REQUIRE(proxy.process().wait_for_output(request_id));
    found = proxy.process().err().find(request_id);
    end = proxy.process().err().find('\n', found);
    if (end == std::string::npos) proxy.process().wait_for_output("}}\n", Milliseconds{20});
  }
  const std::string& log = proxy.process().err();
  const std::size_t begin = log.rfind('\n', found) + 1;
  return nlohmann::json::parse(log.substr(begin, end - begin));
}

}  // namespace spillway::support
