// The rules of HTTP/1 on the wire: RFC 9110, 9112 and 7239, by what the cases are about.
#pragma once

#include <vector>

#include "system/wire/case.hpp"

namespace spillway::wire {

std::vector<Case> request_line_cases();      // methods, targets, versions
std::vector<Case> target_cases();            // paths byte for byte, absolute form
std::vector<Case> path_cases();              // the class of a path that has several readings
std::vector<Case> field_cases();             // what a field line may be
std::vector<Case> host_cases();              // the host that a request is for
std::vector<Case> length_cases();            // Content-Length of requests
std::vector<Case> coding_cases();            // Transfer-Encoding of requests
std::vector<Case> chunk_cases();             // chunks and trailers of requests
std::vector<Case> limit_cases();             // too much of something
std::vector<Case> hop_cases();               // fields that end here, both ways
std::vector<Case> forwarding_cases();        // fields that go on, both ways
std::vector<Case> identity_cases();          // fields that identify the client
std::vector<Case> interim_cases();           // Expect, 100 and other 1xx
std::vector<Case> connection_cases();        // pipelining, keep-alive, HTTP/1.0
std::vector<Case> body_cases();              // bodies of responses, and those that have none
std::vector<Case> early_cases();             // answers ahead of the request's end, retries
std::vector<Case> response_head_cases();     // heads from upstream that are none
std::vector<Case> response_framing_cases();  // bodies from upstream that cannot be, or break off

std::vector<Case> http_cases();

}  // namespace spillway::wire
