// What clients and backends say in the cases: bytes, sound ones and others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spillway::conformance {

// What the backend does with a request.
struct Answer {
  std::string at_head;              // said as soon as the head has come
  bool only_if_expected = false;    // and only when it says Expect: 100-continue
  bool waits_for_body = true;       // before it says the rest; else it reads no more requests here
  std::vector<std::string> pieces;  // said one by one, each when the client has got something of
                                    // the one before, or has not for a moment
  enum class End { stays, closes, resets } end = End::stays;

  Answer& closing() {
    end = End::closes;
    return *this;
  }
  Answer& resetting() {
    end = End::resets;
    return *this;
  }
  Answer& early() {
    waits_for_body = false;
    return *this;
  }
  Answer& after(std::string interim) {
    at_head = std::move(interim);
    return *this;
  }
  // Says 100 as soon as the head has come, to who expects it.
  Answer& continuing() {
    only_if_expected = true;
    return after("HTTP/1.1 100 Continue\r\n\r\n");
  }
};
// These bytes, whatever they are.
Answer raw(std::string bytes);
Answer raw_pieces(std::vector<std::string> pieces);
// A sound response with a Content-Length; each line of `lines` with its line end.
Answer ok(std::string_view body = "ok", std::string_view lines = {});

// Requests; every line of `lines` with its line end.
std::string get(std::string_view target = "/", std::string_view lines = {});
std::string post(std::string_view body, std::string_view lines = {});
// A POST whose framing is in `lines`, and what follows its head.
std::string framed(std::string_view lines, std::string_view rest);
std::string chunked_post(std::string_view chunks, std::string_view lines = {});
// A request that must never get through, to put where somebody might take it for one.
std::string smuggled();

}  // namespace spillway::conformance
