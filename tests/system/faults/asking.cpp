#include "system/faults/asking.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "support/faulty_backend.hpp"
#include "support/raw_client.hpp"

namespace spillway::faults {

using namespace support;

namespace {

struct Way {
  const char* method;
  const char* version = "HTTP/1.1";
  std::size_t small_body = 0;
  bool large_body = false;
  bool chunked = false;
  const char* lines = "";
};

constexpr Way kAll[kWays] = {{.method = "GET"},
                             {.method = "HEAD"},
                             {.method = "POST", .small_body = 300},
                             {.method = "PUT", .small_body = 3'000, .chunked = true},
                             {.method = "POST", .large_body = true},
                             {.method = "PUT", .large_body = true, .chunked = true},
                             {.method = "DELETE"},
                             {.method = "GET", .version = "HTTP/1.0"}};

std::string request(const Way& way, const Question& question) {
  std::string text = std::string(way.method) + " " + question.target + " " + way.version +
                     "\r\nHost: a.example\r\n" + way.lines;
  const std::size_t size = way.large_body ? question.body : way.small_body;
  if (size == 0) return text + "\r\n";
  const std::string body(size, 'b');
  if (way.chunked) {
    return text + "Transfer-Encoding: chunked\r\n\r\n" +
           chunked({body.substr(0, size / 3), body.substr(size / 3)});
  }
  return text + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body;
}

// As programs do that watch for an early answer. False when not all of it was taken.
bool send_while_unanswered(RawClient& client, std::string_view bytes) {
  constexpr std::size_t kPiece = 16'384;
  for (bool first = true; !bytes.empty(); first = false) {
    if (!first && client.has_bytes(0ms)) return false;
    const std::size_t size = std::min(bytes.size(), kPiece);
    if (!client.try_send(bytes.substr(0, size))) return false;
    bytes.remove_prefix(size);
  }
  return true;
}

// However many come before it, it comes in time.
Message final_response(RawClient& client, Expected expected, Milliseconds patience) {
  const Deadline deadline(patience);
  for (;;) {
    Message answer = client.read_response(expected, Milliseconds{deadline.left()});
    if (answer.status() < 100 || answer.status() >= 200) return answer;
    if (deadline.passed()) throw std::runtime_error("no response in time, only interim ones");
  }
}

std::string judged(const Message& answer, const std::string& target, bool is_head) {
  if (!answer.start_line.starts_with("HTTP/1.1 ")) return "WRONG: no HTTP";
  const int status = answer.status();
  if (status == 200 && !is_head && answer.body != body_of(target)) {
    return "WRONG: " + std::to_string(answer.body.size()) + " bytes that are not its own";
  }
  if (status == 200 && is_head && answer.field("X-Target") != target)
    return "WRONG: another's head";
  return std::to_string(status);
}

std::string broken(const std::string& what) {
  if (what.starts_with("no response in time")) return "hangs";
  const std::string closed = "closed instead of a response, after: ";
  if (what.starts_with(closed)) return what.size() == closed.size() ? "closed" : "aborted";
  return "WRONG: " + what;
}

}  // namespace

std::string method_of(std::size_t way) { return kAll[way % kWays].method; }
bool is_idempotent(std::size_t way) { return method_of(way) != "POST"; }

Outcome ask(std::uint16_t port, std::size_t number, const Question& question) {
  const Way& way = kAll[number % kWays];
  const bool is_head = std::string_view(way.method) == "HEAD";
  Outcome outcome{"refused"};
  const std::string bytes = request(way, question);
  try {
    RawClient client(port, 0, nullptr, question.patience);
    outcome.requests = 1;
    const bool all_sent = send_while_unanswered(client, bytes);
    const Message answer = final_response(
        client, is_head ? Expected::head_only : Expected::response, question.patience);
    outcome.word = judged(answer, question.target, is_head);
    if (answer.status() != 200) outcome.detail = answer.body;
    const bool goes_on = all_sent && std::string_view(way.version) == "HTTP/1.1" &&
                         answer.field("Connection") != "close";
    if (!goes_on || question.next.empty() || outcome.word.starts_with("WRONG")) return outcome;
    ++outcome.requests;
    client.send(get(question.next));
    const Message next = client.read_response(Expected::response, question.patience);
    const std::string verdict = judged(next, question.next, false);
    if (verdict == "200") return outcome;
    outcome.word = "WRONG: then " + verdict;
    outcome.detail = next.body;
  } catch (const std::system_error& error) {
    outcome.word = error.code() == std::errc::timed_out ? "hangs" : "refused";
  } catch (const std::exception& error) {
    outcome.word =
        outcome.requests == 2 ? "WRONG: then " + broken(error.what()) : broken(error.what());
  }
  return outcome;
}

}  // namespace spillway::faults
