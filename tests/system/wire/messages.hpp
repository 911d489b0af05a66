// What clients and origins say in the cases: bytes, sound ones and others.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/message.hpp"

namespace spillway::wire {

using support::Message;

// The two ports of an origin: requests of a low class, those for paths below /export, have an
// upstream of their own, so that it is seen which class a proxy gave to a request.
enum class Door { main, low };
inline constexpr std::size_t kDoors = 2;

// What the origin does with a request.
struct Answer {
  std::string at_head;              // said as soon as the head has come
  bool only_if_expected = false;    // and only when it says Expect: 100-continue
  bool waits_for_body = true;       // before it says the rest; else it reads no more requests here
  std::vector<std::string> pieces;  // said one by one, each when the client has got something of
                                    // the one before, or has not for a moment
  // Said in place of `pieces` where it is set: depends on the head of the request and the number
  // of the answer, from 1.
  std::function<std::string(const Message& request, std::size_t number)> writes = {};
  enum class End { stays, closes, resets } end = End::stays;
  bool repeats = false;  // to each request of the step; has no number

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
  // To each request of the step.
  Answer& again() {
    repeats = true;
    return *this;
  }
  Answer& after(std::string interim) {
    at_head = std::move(interim);
    return *this;
  }
  // Says 100 as soon as the head has come, to clients that expect it.
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
// The body of an origin's nth answer where its answers are told apart.
std::string numbered_body(std::size_t number);

// Requests; every line of `lines` with its line end.
std::string get(std::string_view target = "/", std::string_view lines = {});
std::string post(std::string_view body, std::string_view lines = {});
// A POST whose framing is in `lines`, and what follows its head.
std::string framed(std::string_view lines, std::string_view rest);
std::string chunked_post(std::string_view chunks, std::string_view lines = {});
// So many different fields; the first is "X-0: 1".
std::string many_fields(std::size_t count);
// So many lines of a thousand bytes.
std::string long_fields(std::size_t count);
// A request that must never get through, to put where a proxy might take it for one.
std::string smuggled();

// All values of a field in their order, as one list.
std::string joined(const support::Fields& fields, std::string_view name);

// With `base` wherever "{base}" is.
std::string with_base(std::string text, std::string_view base);

// As people can read it: control characters replaced, and not all of it if it is long.
std::string shown(std::string text);

}  // namespace spillway::wire
