// `spillway explain`: what would happen to one request, in words.
//
// Uses the proxy's own classifier and decision.
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
  bool understood;   // false: invalid request, or a state that the upstream never has
  std::string text;  // lines for a person
};

// `config` is a loaded, checked one.
Explanation explain(const config::Config& config, const ExplainedRequest& request);

}  // namespace spillway
