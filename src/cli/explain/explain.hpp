// `spillway explain`: describes in words what would happen to one request.
//
// Uses the same classifier and decisions as the proxy.
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
  State state = State::normal;       // the state of its upstream
  std::string peer = "127.0.0.1";    // address of the other end of the connection
};

struct Explanation {
  bool understood;   // false: an invalid request, or a state that the upstream never has
  std::string text;  // lines for a human reader
};

// `config` must have been loaded and checked.
Explanation explain(const config::Config& config, const ExplainedRequest& request);

}  // namespace spillway
