// What a visitor of a waiting room costs: a poll, a place taken and given up, a pass looked at.
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "http/field/cookie.hpp"
#include "http/message/head.hpp"
#include "suite.hpp"
#include "waiting/token/challenge.hpp"
#include "waiting/token/token.hpp"
#include "waiting_line.hpp"

namespace spillway::micro {
namespace {

using waiting::Time;
using waiting::WaitingRoom;

constexpr Time kNow{std::chrono::hours(24 * 365 * 50)};

// A million take longer to come than to measure: kept while the same line is measured again.
WaitingRoom& line_of(std::size_t length) {
  static std::unique_ptr<WaitingRoom> kept;
  static std::size_t kept_length = 0;
  if (!kept || kept_length != length) {
    kept.reset();
    kept = waiting_line(length, kNow);
    kept_length = length;
  }
  return *kept;
}

// In random order, so that tickets come from memory.
std::vector<waiting::TicketId> some_of(std::size_t length) {
  Random random(7);
  std::vector<waiting::TicketId> ids(1U << 16U);
  for (waiting::TicketId& id : ids) id = visitor(1 + random.next() % length);
  return ids;
}

void poll(benchmark::State& state, std::size_t length) {
  WaitingRoom& room = line_of(length);
  const std::vector<waiting::TicketId> ids = some_of(length);
  std::size_t next = 0, ahead = 0, answered = 0;
  for (auto _ : state) {
    const auto view = room.hear(ids[next++ % ids.size()], kNow);
    if (!view) continue;
    ++answered;
    ahead += view->ahead;
  }
  if (answered != next) state.SkipWithError("a ticket was lost");
  const double mean = static_cast<double>(ahead) / static_cast<double>(next);
  const double half = static_cast<double>(length) / 2;
  if (next > 10'000 && (mean < half * 0.9 || mean > half * 1.1))
    state.SkipWithError("positions are wrong");
}

void join_and_leave(benchmark::State& state, std::size_t length) {
  WaitingRoom& room = line_of(length);
  std::size_t left = 0, next = 0;
  for (auto _ : state) {
    const waiting::TicketId id = visitor(length + 1 + next++);
    const auto contact = room.join(id, kNow, kNow);
    left += contact.view && room.cancel(id, kNow) ? 1 : 0;
  }
  if (left != next) state.SkipWithError("a visitor got no place");
}

void read_pass(benchmark::State& state) {
  const waiting::TokenKeys keys{HmacKey{}};
  const auto text = keys.write({waiting::TokenKind::pass, visitor(1), 3, kNow}, "sale", kNow);
  std::size_t read = 0, next = 0;
  for (auto _ : state) {
    const auto pass = keys.read({text.data(), text.size()}, "sale", kNow);
    read += pass && pass->generation == 3 ? 1 : 0;
    ++next;
  }
  if (read != next) state.SkipWithError("a pass was refused");
}

// As a request of a browser with it is read: its cookie is found among others and taken out of the
// head, which is then parsed again, and the pass is verified. The head's copy is of the benchmark.
void take_pass(benchmark::State& state) {
  const waiting::TokenKeys keys{HmacKey{}};
  const std::string_view name = "__Host-spillway-sale";
  const auto text = keys.write({waiting::TokenKind::pass, visitor(1), 3, kNow}, "sale", kNow);
  const std::string head =
      "GET /sale/basket HTTP/1.1\r\nHost: shop.example\r\n"
      "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0\r\n"
      "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
      "Accept-Language: en,de;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
      "Cookie: session=5f0c9a62d1b84c7e; consent=all; " +
      std::string(name) + "=" + std::string(text.data(), text.size()) +
      "; theme=dark; basket=17\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n"
      "Sec-Fetch-Site: same-origin\r\n\r\n";
  std::string block = head;
  http::RequestHead first;
  if (http::parse_request(block, first) != http::Error::none)
    return state.SkipWithError("the head was refused");
  std::size_t read = 0, next = 0;
  for (auto _ : state) {
    std::memcpy(block.data(), head.data(), head.size());
    waiting::TokenText carried;
    const std::size_t taken = http::extract_cookies(
        block, first.fields, [&](std::string_view its_name, std::string_view value) {
          if (its_name != name) return false;
          carried = waiting::TokenText(value);
          return true;
        });
    http::RequestHead rest;
    const auto error = http::parse_request(std::string_view(block).substr(taken), rest);
    const auto pass = keys.read({carried.data(), carried.size()}, "sale", kNow);
    read += error == http::Error::none && pass && pass->generation == 3 ? 1 : 0;
    ++next;
  }
  if (read != next) state.SkipWithError("a pass was refused");
}

// One hash: what a solver does for each nonce as well.
void check_nonce(benchmark::State& state) {
  const waiting::Challenge challenge{18, visitor(1)};
  std::size_t refused = 0, next = 0;
  for (auto _ : state) {
    const auto nonce = std::to_string(1'000'000 + next++ % 1000);
    refused += check_work(challenge, nonce) == waiting::Work::wrong ? 1 : 0;
  }
  if (refused != next) state.SkipWithError("a nonce was good by chance");
}

// The rate of a program that looks for a nonce.
void seek_nonce(benchmark::State& state) {
  const std::string prefix = waiting::Challenge{18, visitor(1)}.prefix();
  std::string text = prefix + "0000000";
  std::size_t found = 0, next = 0;
  for (auto _ : state) {
    std::size_t rest = next++;
    for (std::size_t at = text.size(); at-- > prefix.size(); rest /= 10)
      text[at] = static_cast<char>('0' + rest % 10);
    found += waiting::zero_bits(sha256(text)) >= 60 ? 1 : 0;
  }
  if (found > 0) state.SkipWithError("that cannot be");
}

}  // namespace

void add_waiting(Suite& suite) {
  for (const std::size_t length : {1000, 100000, 1000000}) {
    const std::string waiting = size_name(length) + " waiting";
    suite.add("waiting/poll, " + waiting, 2000,
              [length](benchmark::State& state) { poll(state, length); });
    suite.add("waiting/join and leave, " + waiting, std::nullopt,
              [length](benchmark::State& state) { join_and_leave(state, length); });
  }
  suite.add("waiting/pass read", 2000, [](benchmark::State& state) { read_pass(state); });
  suite.add("waiting/pass taken from the cookies and read", 2000,
            [](benchmark::State& state) { take_pass(state); });
  suite.add("waiting/nonce checked", 1000, [](benchmark::State& state) { check_nonce(state); });
  suite.add("waiting/nonce sought", std::nullopt,
            [](benchmark::State& state) { seek_nonce(state); });
}

}  // namespace spillway::micro
