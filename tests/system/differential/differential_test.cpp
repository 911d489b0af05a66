// The same streams through Spillway, NGINX and HAProxy to a recording origin: what reaches it is
// the same, or differs in a way that is explained (allowed.cpp).
//
//   test-differential                                   a few hundred streams
//   DIFFERENTIAL_SECONDS=600 test-differential          as many as fit in the time
//   DIFFERENTIAL_SEED=1234 test-differential            from that one on
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "support/places.hpp"
#include "system/differential/comparison.hpp"
#include "system/wire/client.hpp"
#include "system/wire/proxies.hpp"
#include "system/wire/wrong_proxies.hpp"

namespace spillway::differential {
namespace {

using support::Milliseconds;
using wire::ProxyUnderTest;

constexpr std::size_t kLanes = 4;
constexpr std::uint64_t kBatch = 200;
constexpr std::uint64_t kQuick = 400;
// The first of the seeds whose oddities are framings and chunks.
constexpr std::uint64_t kFramings = 81;
// For the proxy to end the connection; longer only where it waits for more.
constexpr Milliseconds kPatience{4000};
constexpr Milliseconds kImpatience{300};  // with proxies that are to fail
constexpr Milliseconds kFarewell{150};

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

Outcome outcome_of(const wire::Origin::Recorded& recorded, const wire::Observation& seen) {
  Outcome outcome;
  for (const std::string& bytes : recorded.received) {
    wire::Reading reading = wire::read_strictly(bytes);
    outcome.begun += reading.begun - reading.requests.size();
    if (!reading.trouble.empty()) outcome.trouble = reading.trouble;
    if (reading.trouble.empty() && wire::lenient_count(bytes) != reading.begun)
      outcome.trouble = "a lenient reader finds another number of requests";
    for (wire::Message& request : reading.requests) {
      if (request.target() == kSecond) {
        ++outcome.second;
      } else if (request.target() == kEnd) {
        ++outcome.end;
      } else {
        outcome.first.push_back(std::move(request));
      }
    }
  }
  for (const wire::Message& response : seen.responses)
    outcome.statuses.push_back(response.status());
  return outcome;
}

Outcome play(const Stream& stream, const wire::Lane& lane, Milliseconds patience) {
  wire::Observation seen;
  wire::Origin& origin = *lane.origin;
  origin.begin({}, 0);
  {
    wire::Client client(lane.port, false, origin, seen);
    client.send(stream.bytes, patience);
    client.read_until([] { return false; }, patience);
    client.half_close();
    client.read_until([] { return false; }, kFarewell);
  }
  return outcome_of(origin.end(), seen);
}

using Outcomes = std::vector<std::vector<Outcome>>;  // by proxy, by stream

Outcomes play_all(const std::vector<Stream>& streams, const std::vector<ProxyUnderTest>& proxies,
                  Milliseconds patience) {
  Outcomes outcomes(proxies.size(), std::vector<Outcome>(streams.size()));
  std::vector<std::atomic<std::size_t>> next(proxies.size());
  std::vector<std::thread> players;
  for (std::size_t p = 0; p < proxies.size(); ++p) {
    for (const wire::Lane& lane : proxies[p].lanes) {
      players.emplace_back([&, p] {
        for (std::size_t n = next[p]++; n < streams.size(); n = next[p]++)
          outcomes[p][n] = play(streams[n], lane, patience);
      });
    }
  }
  for (std::thread& player : players) player.join();
  return outcomes;
}

std::string shown(const Stream& stream) {
  std::string text;
  for (const unsigned char c : stream.bytes) {
    if (c == '\r')
      text += "\\r";
    else if (c == '\n')
      text += "\\n";
    else if (c < 32 || c > 126)
      text += "?";
    else
      text += static_cast<char>(c);
  }
  std::string names;
  for (const auto& oddity : stream.oddities) names.append(oddity).append("; ");
  return names + text;
}

std::ptrdiff_t lines_of(const std::string& text) { return std::ranges::count(text, '\n'); }

class Tally {
 public:
  void count(std::uint64_t seed, const Stream& stream, std::string_view beside, const Outcome& ours,
             const Outcome& theirs) {
    for (const Difference& difference : differences(ours, theirs)) {
      const std::size_t place = explanation(difference, stream, beside);
      ++counts_[{place, std::string(beside)}];
      if (place < allowed().size()) continue;
      unexplained_ += std::to_string(seed) + " " + std::string(beside) + ", " +
                      std::string(name_of(difference.kind)) + " (" + difference.detail +
                      "): " + shown(stream) + "\n";
    }
  }
  const std::string& unexplained() const { return unexplained_; }
  std::string table() const {
    std::string text =
        "| beside | difference | oddity | times | section | why |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
    for (const auto& [key, times] : counts_) {
      const auto& [place, beside] = key;
      if (place >= allowed().size()) continue;
      const Allowed& each = allowed()[place];
      text += "| " + beside + " | " + std::string(name_of(each.kind)) + " | " +
              std::string(each.oddity) + " | " + std::to_string(times) + " | " +
              std::string(each.section) + " | " + std::string(each.why) + " |\n";
    }
    return text;
  }

 private:
  std::map<std::pair<std::size_t, std::string>, std::size_t> counts_;
  std::string unexplained_;
};

// From `seed` on; tells `tally` and `troubles` of what it finds in the first of the proxies.
void play_batch(std::uint64_t seed, std::uint64_t count, const std::vector<ProxyUnderTest>& proxies,
                Milliseconds patience, Tally& tally, std::string& troubles) {
  std::vector<Stream> streams;
  for (std::uint64_t n = 0; n < count; ++n) streams.push_back(stream_of(seed + n));
  const Outcomes outcomes = play_all(streams, proxies, patience);
  for (std::size_t n = 0; n < streams.size(); ++n) {
    const Outcome& ours = outcomes[0][n];
    if (!ours.trouble.empty() || ours.second > 1 || ours.end > 1)
      troubles += std::to_string(seed + n) + " " + ours.trouble + ": " + shown(streams[n]) + "\n";
    for (std::size_t p = 1; p < proxies.size(); ++p)
      tally.count(seed + n, streams[n], proxies[p].name, ours, outcomes[p][n]);
  }
}

TEST_CASE("what a backend gets is what it gets through NGINX and HAProxy, or is explained") {
  const std::vector<ProxyUnderTest> proxies{wire::spillway(kLanes, wire::Caching::nothing),
                                            wire::nginx(kLanes), wire::haproxy(kLanes)};
  const std::chrono::seconds seconds(number_from("DIFFERENTIAL_SECONDS", 0));
  const support::Deadline deadline(seconds);
  const std::uint64_t first = number_from("DIFFERENTIAL_SEED", 0);
  std::uint64_t seed = first;
  Tally tally;
  std::string troubles;
  for (; seed - first < kQuick || !deadline.passed(); seed += kBatch)
    play_batch(seed, kBatch, proxies, kPatience, tally, troubles);
  const std::string text = std::to_string(seed - first) + " streams\n\n" + tally.table();
  MESSAGE(text);
  std::ofstream(support::in_build("differential-table.md")) << text;
  CHECK_MESSAGE(troubles.empty(), troubles);
  CHECK_MESSAGE(tally.unexplained().empty(), tally.unexplained());
}

TEST_CASE("a proxy that sends bytes on as they come is found out") {
  const std::vector<ProxyUnderTest> proxies{wire::relay(kLanes), wire::nginx(kLanes),
                                            wire::haproxy(kLanes)};
  Tally tally;
  std::string troubles;
  play_batch(kFramings, 40, proxies, kImpatience, tally, troubles);
  CHECK(lines_of(troubles) > 10);
  CHECK(!tally.unexplained().empty());
}

TEST_CASE("one that refuses all is found out") {
  const std::vector<ProxyUnderTest> proxies{wire::refuser(kLanes), wire::nginx(kLanes),
                                            wire::haproxy(kLanes)};
  Tally tally;
  std::string troubles;
  play_batch(0, 40, proxies, kImpatience, tally, troubles);
  CHECK(lines_of(tally.unexplained()) > 30);
}

}  // namespace
}  // namespace spillway::differential
