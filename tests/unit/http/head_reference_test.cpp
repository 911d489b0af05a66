// Our head parser compared with Boost.Beast's on randomly damaged heads.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "fuzz/head_comparison.hpp"

namespace spillway::fuzz {
namespace {

// Bytes with a meaning in a head, and some without.
std::string damaged(std::string head, Random& random) {
  constexpr std::string_view kBytes = " \t\r\n:,;/.-=\"1029HPTXabc\x80\xff\x7f";
  for (std::uint64_t times = 1 + random.next() % 4; times > 0; --times) {
    const std::size_t at = random.next() % head.size();
    const std::size_t size = 1 + random.next() % 4;
    const char byte = kBytes[random.next() % kBytes.size()];
    switch (random.next() % 4) {
      case 0: head[at] = byte; break;
      case 1: head.insert(at, 1, byte); break;
      case 2: head.erase(at, size); break;
      default: head.insert(random.next() % head.size(), head.substr(at, size * 6)); break;
    }
    if (head.empty()) head = "x";
  }
  return head;
}

struct Agreement {
  int both_accept = 0, both_refuse = 0;
};

template <class Compare>
Agreement compare_damaged(const std::vector<std::string>& samples, Compare compare) {
  Agreement agreement;
  Random random(11);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = damaged(samples[random.next() % samples.size()], random);
    CAPTURE(text);
    const HeadComparison comparison = compare(text);
    REQUIRE(comparison.disagreement == "");
    agreement.both_accept += comparison.ours_accepts && comparison.beast_accepts;
    agreement.both_refuse += !comparison.ours_accepts && !comparison.beast_accepts;
  }
  return agreement;
}

std::string disagreement(std::string_view request) { return compare_request(request).disagreement; }

}  // namespace

TEST_CASE("damaged requests are read as Beast reads them") {
  const Agreement agreement = compare_damaged(
      {"GET /a/b?c=d HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive, x\r\n\r\n",
       "POST http://h/x HTTP/1.0\r\nHost: h\r\nContent-Length: 12\r\nA:\r\nB: \t c d \t\r\n\r\n",
       "OPTIONS * HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhost:h\r\nUpgrade: w, x/1\r\n\r\n"},
      compare_request);
  CHECK(agreement.both_accept > 10'000);
  CHECK(agreement.both_refuse > 10'000);
}

TEST_CASE("damaged responses are read as Beast reads them") {
  const Agreement agreement = compare_damaged(
      {"HTTP/1.1 200 OK\r\nConnection: close, x\r\nContent-Length: 5\r\n\r\n",
       "HTTP/1.0 404 Not  \xc3\xa4 Found\r\nConnection: close\r\nSet-Cookie: a=b; c\r\n\r\n",
       "HTTP/1.1 304 \r\nETag: \"x\"\r\nTransfer-Encoding: chunked\r\n\r\n"},
      [](std::string_view text) { return compare_response(text, http::Verb::get); });
  CHECK(agreement.both_accept > 10'000);
  CHECK(agreement.both_refuse > 10'000);
}

TEST_CASE("both parsers agree on incomplete heads and on bytes after a head") {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t size = 0; size <= head.size(); ++size) {
    CAPTURE(size);
    const HeadComparison comparison = compare_request(head.substr(0, size));
    CHECK(comparison.disagreement == "");
    CHECK(comparison.ours_accepts == (size == head.size()));
  }
  CHECK(compare_request("\r\n\r\n" + head + "more").ours_accepts);
  CHECK(disagreement("\r\n\r\n" + head + "more") == "");
}

}  // namespace spillway::fuzz
