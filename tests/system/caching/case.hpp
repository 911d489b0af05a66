// A case of the caching table: one sentence of an RFC (or one promise of ours) as a short play.
//
// The origin has its answers ready, one per request it gets; the body of its nth is "answer n".
// The client asks step by step, on a connection of its own each time, and each step says what must
// hold of the response and of what the origin was asked meanwhile:
//
//   {.sentence = "a stale response with an entity tag is validated by it",
//    .section = "9111 4.3.1", .level = Level::must,
//    .origin = {says({"Cache-Control: max-age=1", "ETag: \"a\""}), says(304, {"ETag: \"a\""})},
//    .client = {get().from_origin(1),
//               get().later().answers(1).asked_with("If-None-Match", "\"a\"")}}
//
// "{base}" in a path, a request line or an answer's line stands for the path of the case.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/held_table.hpp"
#include "support/message.hpp"

namespace spillway::caching {

using support::Message;
using Lines = std::vector<std::string>;  // "Name: value", without line ends

using support::Level;

enum class Framing {
  length,
  chunked,
  until_close,
  cut_off,          // closed before the bytes that Content-Length promises have come
  cut_off_chunked,  // closed before the last chunk
  nothing,          // closed without a byte, also when asked again within the step
};

struct Answer {
  int status = 200;
  Lines lines;  // without Content-Length; Date is added unless `undated` or here
  Framing framing = Framing::length;
  bool undated = false;
  // 304 instead when the request's If-None-Match or If-Modified-Since names this very answer.
  bool validates = false;
  // 206 instead, with the first three bytes, for "Range: bytes=0-2" (unless If-Range fails).
  bool ranges = false;
  Lines trailers;  // of a chunked body
};

Answer says(int status, Lines lines);
inline Answer says(Lines lines) { return says(200, std::move(lines)); }
inline Answer framed(Framing framing, Answer answer) {
  answer.framing = framing;
  return answer;
}
inline Answer validating(Answer answer) {
  answer.validates = true;
  return answer;
}
inline Answer fails() { return {.framing = Framing::nothing}; }

// An HTTP-date so many seconds after the program began (before, if negative).
std::string date(int seconds = 0);

std::string body_of_answer(std::size_t number);

// What came of one request.
struct Exchange {
  std::optional<Message> response;  // nullopt: broken off before its end
  std::vector<Message> asked;       // of the origin, since the request was sent
};

// What is wrong, as a clause; empty when nothing is.
using Check = std::function<std::string(const Exchange&)>;

class Step {
 public:
  Step(std::string method, std::string path, Lines lines);

  Step& host(std::string name);
  Step& body(std::string bytes);
  Step& later();       // what was fresh for a second is stale by now
  Step& eventually();  // again and again until it holds

  Step& status(int expected);  // 200 unless said
  Step& any_status();
  Step& broken_off();
  Step& answers(std::size_t number);  // the body is that answer's
  Step& from_store(std::size_t number) { return answers(number).not_asked(); }
  Step& from_origin(std::size_t number) { return answers(number).asked(); }
  Step& whole();          // the body is all of some answer's
  Step& part_or_whole();  // a 206 with its first three bytes, or all
  Step& has_body(std::string bytes);
  Step& with(std::string name);
  Step& with(std::string name, std::string value);
  Step& with_part(std::string name, std::string part);  // its value contains this
  Step& with_lines(std::string name, std::size_t count);
  Step& without(std::string name);
  Step& age(long least, long most = std::numeric_limits<long>::max());
  Step& asked();  // once
  Step& tried();  // asked, perhaps more than once
  Step& not_asked();
  Step& asked_with(std::string name, std::string value);
  Step& asked_without(std::string name);
  Step& refreshes();  // the origin is asked, but perhaps only after the response
  Step& satisfies(Check check);

  bool wants_store() const { return wants_store_; }

 private:
  friend class Play;
  std::string method_;
  std::string path_;
  Lines lines_;
  std::string host_ = "a.example";
  std::string body_;
  std::optional<int> status_ = 200;
  bool later_ = false;
  bool eventually_ = false;
  bool refreshes_ = false;
  bool broken_off_ = false;
  bool wants_store_ = false;
  std::vector<Check> checks_;
};

inline Step get(Lines lines = {}) { return {"GET", "", std::move(lines)}; }
inline Step get_at(std::string path, Lines lines = {}) {
  return {"GET", std::move(path), std::move(lines)};
}
inline Step ask(std::string method, Lines lines = {}) { return {std::move(method), "", lines}; }
inline Step head(Lines lines = {}) { return {"HEAD", "", std::move(lines)}; }
// With a small body.
Step post(Lines lines = {});

enum class Staleness {
  as_said,   // nothing stale but by leave of the response
  by_leave,  // the operator lets it be given for a minute: when the upstream fails, or to who asks
};

struct Case {
  std::string sentence;
  std::string section;
  Level level;
  std::vector<Answer> origin;
  std::vector<Step> client;
  Staleness staleness = Staleness::as_said;
  // Why Spillway does otherwise on purpose; it must hold where this is empty.
  std::string otherwise = {};
};

}  // namespace spillway::caching
