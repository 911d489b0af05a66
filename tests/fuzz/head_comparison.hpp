// Reads a head with our parser and with Boost.Beast's, and compares what each takes it to mean.
//
// Two parties on the way of a message that read its head differently can be played against each
// other (request smuggling), so where both accept, both must mean the same: start line, fields in
// order, framing, persistence, and the byte at which the head ends. Where only one of them accepts,
// that must be ours refusing for a reason listed in head_comparison.cpp.
#pragma once

#include <string>
#include <string_view>

#include "http/message/head.hpp"

namespace spillway::fuzz {

struct HeadComparison {
  bool ours_accepts = false;   // scan, parse and framing
  bool beast_accepts = false;  // complete, and no error
  std::string disagreement;    // a sentence; empty when there is none
};

// `received` is what came on a connection: a head, with or without bytes behind it, or part of one.
HeadComparison compare_request(std::string_view received);

// Likewise; `request_method` is that of the request that the response answers.
HeadComparison compare_response(std::string_view received, http::Verb request_method);

}  // namespace spillway::fuzz
