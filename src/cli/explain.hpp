// What would happen to one request, in words: the answer of `spillway explain`.
//
// Asks the same classifier and the same decision that serve real requests.
#pragma once

#include <string>
#include <vector>

#include "base/state.hpp"
#include "config/config.hpp"

namespace spillway {

struct ExplainedRequest {
  std::string method;
  std::string url;                   // origin-form, or absolute with http://
  std::vector<std::string> headers;  // "Name: value"
  State state = State::normal;       // of its upstream
  std::string peer = "127.0.0.1";    // address of the other end of the connection
};

struct Explanation {
  bool understood;   // false: no such request can come, or no such state can be
  std::string text;  // lines for a person
};

// `config` is one that load() accepted.
Explanation explain(const config::Config& config, const ExplainedRequest& request);

}  // namespace spillway
