// What a strict reader finds in the bytes that a client and a server sent, independently of the
// proxy's own parsers: the upper bound of what the proxy may have found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/head.hpp"

namespace spillway::fuzz {

struct SentRequest {
  unsigned id = 0;              // the first mark of its head
  std::vector<unsigned> marks;  // all of them
  std::string head;
  std::string method;
  unsigned version = 11;
  std::string content;  // as far as it was sent and is right
  bool is_complete = false;
  std::size_t end = 0;  // in the stream, where it is complete
};

// A client's whole stream.
struct SentRequests {
  std::vector<SentRequest> requests;
  bool has_tail = false;  // what follows is no request, or not all of one
};
SentRequests read_requests(std::string_view sent, std::uint64_t body_limit);

// A server's answer to one request.
struct SentAnswer {
  bool is_valid = false;  // up to the end of its final head
  unsigned status = 0;
  std::string head;     // the final one
  std::string content;  // as far as it was sent and is right
  bool is_complete = false;
};
SentAnswer read_answer(std::string_view sent, bool is_to_head, bool has_server_closed);

bool is_idempotent(std::string_view method);  // RFC 9110 section 9.2.2

}  // namespace spillway::fuzz
