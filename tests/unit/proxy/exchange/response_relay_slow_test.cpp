// A client that takes nothing for a while: what keeps the rest of its response, and how long that
// holds a slot.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_directory.hpp"
#include "unit/proxy/exchange/relayed_response.hpp"

namespace spillway::proxy {
namespace {

constexpr std::uint64_t kBlockBytes = 128 * 1024;
constexpr std::size_t kLong = 4'000'000;  // more than a pipe holds

std::string long_content(std::size_t size) {
  std::string content(size, '\0');
  for (std::size_t at = 0; at < size; ++at) content[at] = static_cast<char>(at * 7 + at / 251);
  return content;
}

// To a client that takes nothing yet; one body may have so many blocks of memory, and so many bytes
// of a file.
struct SlowRelay {
  SlowRelay(const std::string& response, std::uint64_t blocks, std::uint64_t in_file)
      : it(response.substr(0, 200),
           {.room = 0,
            .change =
                [&](nlohmann::json& all) {
                  all["workers"] = 1;
                  all["limits"]["buffer_bytes"] = blocks * kBlockBytes * 32;
                  all["limits"]["temp_file_bytes"] = in_file * 8;
                  all["limits"]["temp_file_directory"] = directory.path().string();
                  all["routes"][0]["cache"]["max_bytes"] = 1 << 26;
                  all["routes"][0]["cache"]["max_entry_bytes"] = 1 << 23;
                }}),
        rest(std::string_view(response).substr(200)) {
    it.relays();
  }
  // Until the proxy takes no more.
  void sends_what_is_taken() {
    for (int idle = 0; idle < 20; ++idle) {
      const std::size_t sent = it.connection.send_some(rest);
      rest.remove_prefix(sent);
      it.process.loop.poll();
      if (sent > 0) idle = 0;
    }
  }
  // The client takes nothing for so long, which the loop does not know of.
  void client_waits(Duration time) {
    const TimePoint until = it.process.services.now() + time;
    while (!it.is_over && it.asked.parking.deadline() <= until)
      it.asked.is_late_at(it.asked.parking.deadline());
  }
  // Everything, in its own time.
  void client_takes_all() {
    const support::Deadline deadline;
    while (!it.is_over && !deadline.passed()) {
      it.asked.session.take_more(200'000);
      sends_what_is_taken();
    }
  }

  support::TemporaryDirectory directory;
  RelayedResponse it;
  std::string_view rest;  // that is not sent
};

}  // namespace

TEST_CASE("what a slow client has not taken holds no slot if it has room elsewhere") {
  struct Case {
    std::string_view what;
    std::uint64_t blocks, in_file;
    bool is_free_at_once, is_free_after_a_while;
  };
  const std::vector<Case> cases{
      {"in memory", 60, 0, true, true},
      {"in memory, though a file has room", 60, 6'000'000, true, true},
      {"in a file, once it has held its slot for half a second", 0, 6'000'000, false, true},
      {"nowhere", 0, 0, false, false},
      {"the memory is too small for all of it", 20, 0, false, false},
      {"the file is, too", 0, 2'000'000, false, false},
  };
  const std::string content = long_content(kLong);
  const std::string length = "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n";
  for (const bool is_stored : {false, true}) {  // what may be stored is not moved through a pipe
    CAPTURE(is_stored);
    const std::string response =
        "HTTP/1.1 200 OK\r\nCache-Control: " + std::string(is_stored ? "max-age=60" : "no-store") +
        "\r\n" + length + content;
    for (const Case& c : cases) {
      CAPTURE(c.what);
      SlowRelay slow(response, c.blocks, c.in_file);
      slow.sends_what_is_taken();
      CHECK(slow.it.process.has_free_slot() == c.is_free_at_once);
      slow.client_waits(std::chrono::seconds(2));
      slow.sends_what_is_taken();
      CHECK(slow.it.process.has_free_slot() == c.is_free_after_a_while);
      CHECK(slow.it.asked.session.sent.empty());
      slow.client_takes_all();
      REQUIRE(slow.it.is_over);
      CHECK_FALSE(slow.it.fault);
      CHECK(slow.it.asked.session.sent == content);
      CHECK(slow.it.process.has_free_slot());
      CHECK(slow.it.process.gauges->buffered_bytes.value() == 0);
      CHECK(slow.it.process.temp_space.taken() == 0);
    }
  }
}

TEST_CASE("a slot waits for its client once no more can be read, in whatever pieces it came") {
  const std::string content = long_content(kLong);
  const std::string response = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " +
                               std::to_string(content.size()) + "\r\n\r\n" + content;
  for (const std::size_t piece : {std::size_t{700}, std::size_t{65'536}, kLong}) {
    CAPTURE(piece);
    SlowRelay slow(response, 0, 0);
    CHECK(slow.it.asked.session.slot_in_turn == ItsSlot::is_used);
    for (int idle = 0; idle < 20; ++idle) {
      const std::size_t sent = slow.it.connection.send_some(slow.rest.substr(0, piece));
      slow.rest.remove_prefix(sent);
      slow.it.process.loop.poll();
      if (sent > 0) idle = 0;
    }
    CHECK(slow.it.asked.session.slot_in_turn == ItsSlot::waits_too);
    CHECK_FALSE(slow.it.relay.may_spill());
    slow.client_takes_all();
    REQUIRE(slow.it.is_over);
    CHECK(slow.it.asked.session.sent == content);
  }
}

TEST_CASE(
    "what a client keeps waiting may be moved aside where there is room, before half a second") {
  const std::string content = long_content(kLong);
  const std::string response = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " +
                               std::to_string(content.size()) + "\r\n\r\n" + content;
  for (const std::uint64_t in_file : {2'000'000, 6'000'000}) {
    CAPTURE(in_file);
    SlowRelay slow(response, 0, in_file);
    slow.sends_what_is_taken();
    CHECK_FALSE(slow.it.process.has_free_slot());
    CHECK(slow.it.relay.may_spill() == (in_file > kLong));
    CHECK(slow.it.process.gauges->temp_files_over_limit.value() == 0);  // asking takes nothing
    slow.it.relay.spill_soon();
    slow.it.asked.parking.wake(Wake::timeout);
    slow.sends_what_is_taken();
    CHECK(slow.it.process.has_free_slot() == (in_file > kLong));
    slow.client_takes_all();
    REQUIRE(slow.it.is_over);
    CHECK(slow.it.asked.session.sent == content);
  }
}

TEST_CASE("a response of unknown length is kept as far as there is room, then its server waits") {
  std::string chunks;
  const std::string content = long_content(kLong);
  for (std::size_t at = 0; at < content.size(); at += 1000)
    chunks += "3e8\r\n" + content.substr(at, 1000) + "\r\n";
  const std::string response =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n";
  for (const std::uint64_t blocks : {0, 3, 60}) {
    CAPTURE(blocks);
    SlowRelay slow(response, blocks, 0);
    slow.sends_what_is_taken();
    CHECK(slow.it.process.has_free_slot() == (blocks == 60));
    CHECK(slow.it.process.gauges->buffered_bytes.value() <=
          static_cast<std::int64_t>(blocks * kBlockBytes));
    slow.client_takes_all();
    REQUIRE(slow.it.is_over);
    CHECK_FALSE(slow.it.fault);
    CHECK(slow.it.asked.session.sent == content);
  }
}

TEST_CASE("a slow client's response on disk has its time as a whole, one in memory has not") {
  const std::string content = long_content(kLong);
  const std::string response = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " +
                               std::to_string(content.size()) + "\r\n\r\n" + content;
  for (const bool is_on_disk : {true, false}) {
    CAPTURE(is_on_disk);
    SlowRelay slow(response, is_on_disk ? 0 : 60, 6'000'000);
    slow.sends_what_is_taken();
    slow.client_waits(std::chrono::seconds(1));
    slow.sends_what_is_taken();
    REQUIRE(slow.rest.empty());
    const TimePoint due = slow.it.asked.parking.deadline();
    if (!is_on_disk) CHECK(due == kNever);
    if (!is_on_disk) continue;
    CHECK(due == slow.it.asked.call.deadlines().response_due());
    slow.it.asked.is_late_at(due);
    REQUIRE(slow.it.is_over);
    CHECK(slow.it.reason() == Reason::upstream_timeout);
    CHECK(slow.it.asked.failures() == 0);
  }
}

TEST_CASE("those that wait for a response ask themselves once its client holds it back") {
  const std::string content = long_content(kLong);
  const std::string response = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: " +
                               std::to_string(content.size()) + "\r\n\r\n" + content;
  for (const std::uint64_t blocks : {0, 60}) {
    CAPTURE(blocks);
    RelayedResponse it(response.substr(0, 200),
                       {.room = 0, .change = [&](nlohmann::json& all) {
                          all["workers"] = 1;
                          all["limits"]["buffer_bytes"] = blocks * kBlockBytes * 32;
                          all["limits"]["temp_file_bytes"] = 0;
                          all["routes"][0]["cache"]["max_bytes"] = 1 << 26;
                          all["routes"][0]["cache"]["max_entry_bytes"] = 1 << 23;
                        }});
    SharedResponse follower;
    follower.mailbox = &it.process.services.mailbox;
    REQUIRE(it.asked.flight.try_lead());
    it.asked.lookup.cache()->flights().join(it.asked.key.hash(), follower);
    it.relays();
    std::string_view rest = std::string_view(response).substr(200);
    for (int n = 0; n < 1000 && !follower.delivered; ++n) {
      rest.remove_prefix(it.connection.send_some(rest));
      it.process.loop.poll();
    }
    CHECK(follower.landing == (blocks == 0 ? cache::Landing::nothing : cache::Landing::stored));
    it.asked.flight.land(cache::Landing::failed);
    it.process.loop.poll();
  }
}

}  // namespace spillway::proxy
