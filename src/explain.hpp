// What would happen to one request, in words: the answer of `spillway explain`.
//
// Asks the same classifier and the same decision that serve real requests.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace spillway {

struct ExplainedRequest {
  std::string method;
  std::string url;                   // origin-form, or absolute with http://
  std::vector<std::string> headers;  // "Name: value"
  std::string state = "NORMAL";      // of its upstream; or "OVERLOADED"
};

struct Explanation {
  bool understood;   // false: this is no request that a client could send
  std::string text;  // lines for a person
};

// `config` is one that load() accepted. The client is taken to be this machine.
Explanation explain(const config::Config& config, const ExplainedRequest& request);

}  // namespace spillway
