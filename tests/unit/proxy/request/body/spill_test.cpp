#include "proxy/request/body/spill.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "http/message/head.hpp"
#include "proxy/request/context/request_context.hpp"
#include "support/temporary_directory.hpp"
#include "unit/proxy/request/lone_process.hpp"

namespace spillway::proxy {
namespace {

constexpr std::size_t kBlock = 128 * 1024;

// A body that may keep so many blocks in memory, and so many bytes in a file.
struct Keeping {
  explicit Keeping(std::uint64_t blocks, std::uint64_t in_file, const std::string& directory = {})
      : process(config(blocks, in_file, directory.empty() ? own.path().string() : directory)) {
    spill.emplace(process.services, request);
  }

  config::Config config(std::uint64_t blocks, std::uint64_t in_file,
                        const std::string& directory) const {
    nlohmann::json changed = settings({{"strategy", "allow"}});
    changed["workers"] = 1;
    changed["limits"]["buffer_bytes"] = blocks * kBlock * 32;
    changed["limits"]["temp_file_bytes"] = in_file * 8;
    changed["limits"]["temp_file_directory"] = directory;
    return support::checked(changed);
  }

  void keep(std::string_view bytes) {
    Block block = process.services.large_blocks.take();
    std::memcpy(block.bytes().data() + 7, bytes.data(), bytes.size());
    spill->keep(block, 7, 7 + bytes.size());
    CHECK(block);
    kept += bytes;
  }
  // At most so many bytes.
  void send(std::size_t most) {
    while (most > 0 && !spill->is_empty()) {
      const std::string_view front = spill->front();
      REQUIRE(!front.empty());
      const std::size_t bytes = std::min(most, front.size());
      sent += front.substr(0, bytes);
      spill->sent(bytes);
      most -= bytes;
    }
  }
  void send_all() { send(std::string::npos); }

  support::TemporaryDirectory own;
  Process process;
  http::RequestHead head;
  ClientInfo client;
  RequestContext request{RequestContext::Kind::live, *process.generation, head, client,
                         Clock::now()};
  std::optional<Spill> spill;
  std::string kept, sent;
};

std::string noise(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

}  // namespace

TEST_CASE("what is kept comes out in order and unchanged, from memory and file") {
  std::mt19937 random(3);
  for (const std::uint64_t blocks : {0, 1, 3}) {
    CAPTURE(blocks);
    Keeping body(blocks, 40'000'000);
    const observe::WorkerGauges& gauges = *body.process.gauges;
    for (int step = 0; step < 300; ++step) {
      const std::size_t size = 1 + random() % (random() % 2 == 0 ? 300 : kBlock - 7);
      random() % 2 == 0 ? body.keep(noise(random, size)) : body.send(size * 2);
      CHECK(gauges.buffered_bytes.value() <= static_cast<std::int64_t>(blocks * kBlock));
      CHECK(gauges.temp_file_bytes.value() ==
            static_cast<std::int64_t>(body.process.temp_space.taken()));
    }
    body.send_all();
    CHECK((body.sent == body.kept));
    CHECK(gauges.temp_files.value() > 0);
    CHECK(gauges.buffered_bytes.value() == 0);
    CHECK(gauges.temp_file_bytes.value() == 0);
    CHECK(gauges.temp_files_over_limit.value() + gauges.temp_files_failed.value() == 0);
  }
}

TEST_CASE("a body that is dropped gives back its memory and its file") {
  Keeping body(2, 40'000'000);
  for (int n = 0; n < 5; ++n) body.keep(std::string(1000, 'x'));
  CHECK(body.process.gauges->buffered_bytes.value() == 2 * kBlock);
  CHECK(body.process.gauges->temp_file_bytes.value() == 3000);
  body.spill.reset();
  CHECK(body.process.gauges->buffered_bytes.value() == 0);
  CHECK(body.process.gauges->temp_file_bytes.value() == 0);
  CHECK(body.process.temp_space.taken() == 0);
}

TEST_CASE("a body gets an eighth of the disk space, and is told before") {
  Keeping body(0, 10'000);
  CHECK(body.spill->find_file_room(10'000));
  body.keep(std::string(6000, 'x'));
  CHECK(body.spill->find_file_room(4000));
  CHECK(body.process.gauges->temp_files_over_limit.value() == 0);
  CHECK_FALSE(body.spill->find_file_room(4001));
  CHECK_FALSE(body.spill->may_have_file());
  CHECK_FALSE(body.spill->find_file_room(1));
  CHECK(body.process.gauges->temp_files_over_limit.value() == 1);  // once for each body
  body.send_all();
  CHECK((body.sent == body.kept));
}

TEST_CASE("one client address gets a quarter of memory and disk space, whatever its bodies") {
  Keeping first(1, 10'000);  // of each: 8 blocks of memory, and two files of 10,000 bytes
  first.client.peer.address = *parse_ip_address("2001:db8:1:2::1");
  ClientInfo same;
  same.peer.address = *parse_ip_address("2001:db8:1:2::ffff");  // of one /64
  ClientInfo other;
  other.peer.address = *parse_ip_address("2001:db8:1:3::1");
  const auto request_of = [&](const ClientInfo& client) {
    return std::make_unique<RequestContext>(RequestContext::Kind::live, *first.process.generation,
                                            first.head, client, Clock::now());
  };
  const auto its = request_of(same), others = request_of(other);
  const auto fill = [&](Spill& spill, std::size_t bytes) {
    Block block = first.process.services.large_blocks.take();
    spill.keep(block, 0, bytes);
  };
  std::deque<Spill> bodies;
  for (int n = 0; n < 8; ++n) {
    CHECK(bodies.emplace_back(first.process.services, *its).has_memory(kBlock));
    fill(bodies.back(), 10'000);
  }
  CHECK_FALSE(first.spill->has_memory(1));
  for (int n = 0; n < 2; ++n) {
    CHECK(bodies.emplace_back(first.process.services, *its).find_file_room(10'000));
    fill(bodies.back(), 10'000);
  }
  CHECK_FALSE(first.spill->find_file_room(1));
  CHECK(first.process.gauges->temp_files_over_limit.value() == 1);
  Spill elsewhere(first.process.services, *others);
  CHECK(elsewhere.has_memory(kBlock));
  CHECK(elsewhere.find_file_room(10'000));
  bodies.clear();
  CHECK(first.spill->has_memory(kBlock));
  CHECK(Spill(first.process.services, *its).find_file_room(10'000));
}

TEST_CASE("stored answers have half as much memory as bodies, and one has any") {
  Keeping first(1, 0);  // 32 blocks for bodies, 16 for answers, 8 of one client
  first.client.peer.address = *parse_ip_address("192.0.2.1");
  ClientInfo other;
  other.peer.address = *parse_ip_address("192.0.2.2");
  const RequestContext others(RequestContext::Kind::live, *first.process.generation, first.head,
                              other, Clock::now());
  const observe::WorkerGauges& gauges = *first.process.gauges;
  CHECK_FALSE(first.spill->reserve(40 * kBlock));
  {
    Spill alone(first.process.services, others);
    CHECK(alone.reserve_answer(40 * kBlock));
    CHECK(gauges.buffered_bytes.value() == 40 * kBlock);
    CHECK_FALSE(first.spill->reserve_answer(1));
    CHECK_FALSE(first.spill->has_room_for_answer(1));
    CHECK_FALSE(first.spill->has_memory(1));  // a body: answers count for it
  }
  std::deque<Spill> answers;
  const auto fits = [&](const RequestContext& request, std::uint64_t blocks) {
    return answers.emplace_back(first.process.services, request).reserve_answer(blocks * kBlock);
  };
  CHECK(fits(first.request, 4));
  CHECK(fits(first.request, 4));
  CHECK_FALSE(fits(first.request, 1));  // its part
  CHECK(first.spill->has_room_for_answer(kBlock));
  CHECK(fits(others, 7));
  CHECK_FALSE(fits(others, 2));
  CHECK(fits(others, 1));
  CHECK_FALSE(first.spill->has_room_for_answer(1));
  CHECK_FALSE(fits(others, 1));
  answers.clear();
  CHECK(gauges.buffered_bytes.value() == 0);
  CHECK(fits(first.request, 1));
}

TEST_CASE("bodies that fill the memory leave stored answers theirs, those of their clients too") {
  for (const std::uint64_t blocks : {0, 1}) {
    CAPTURE(blocks);
    Keeping first(blocks, 0);
    first.client.peer.address = *parse_ip_address("192.0.2.1");
    std::deque<Spill> bodies;
    for (std::uint64_t n = 0; n < 32 * blocks + 1; ++n) {  // whatever there is room for
      Block block = first.process.services.large_blocks.take();
      bodies.emplace_back(first.process.services, first.request).keep(block, 0, 1000);
    }
    CHECK_FALSE(first.spill->has_memory(1));
    Spill answer(first.process.services, first.request);
    CHECK(answer.reserve_answer(4 * kBlock));
    Spill next(first.process.services, first.request);
    CHECK(next.reserve_answer(4 * kBlock) == (blocks > 0));
    bodies.clear();
    CHECK_FALSE(Spill(first.process.services, first.request).reserve_answer(1));
  }
}

TEST_CASE(
    "behind a trusted peer the client that it names counts; one that names none is not bounded") {
  Keeping body(1, 10'000);
  body.client.peer.address = *parse_ip_address("192.0.2.1");
  body.client.peer.trusted = true;
  http::RequestHead named;
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n";
  REQUIRE(http::parse_request(text, named) == http::Error::none);
  const RequestContext with_name(RequestContext::Kind::live, *body.process.generation, named,
                                 body.client, Clock::now());
  std::deque<Spill> bodies;
  for (const RequestContext* const request : {&with_name, &std::as_const(body.request)}) {
    for (int n = 0; n < 8; ++n) {
      Block block = body.process.services.large_blocks.take();
      bodies.emplace_back(body.process.services, *request).keep(block, 0, 10'000);
    }
    const bool is_bounded = request == &with_name;
    CHECK(Spill(body.process.services, *request).has_memory(kBlock) != is_bounded);
  }
}

TEST_CASE("what no file takes is kept in memory all the same") {
  for (const char* const directory : {"/no/such/directory", "/dev/null"}) {
    Keeping body(0, 10'000, directory);
    CHECK(body.spill->find_file_room(1000));
    body.keep("one");
    body.keep("two");
    CHECK_FALSE(body.spill->find_file_room(1));
    CHECK(body.process.gauges->temp_files_failed.value() == 1);
    CHECK(body.process.gauges->buffered_bytes.value() == 2 * kBlock);
    body.send_all();
    CHECK(body.sent == "onetwo");
  }
}

TEST_CASE("a body keeps disk space from others once all of it is taken, not a part of it") {
  Keeping body(0, 10'000);  // of 80,000 bytes
  const auto now = [&] { return body.process.services.now(); };
  body.keep(std::string(1000, 'x'));
  CHECK_FALSE(body.spill->find_file_room(9001));  // its part
  CHECK_FALSE(body.spill->keeps_space(now()));
  ClientInfo greedy;
  greedy.peer.address = *parse_ip_address("192.0.2.1");
  const RequestContext greedys(RequestContext::Kind::live, *body.process.generation, body.head,
                               greedy, Clock::now());
  traffic::ClientShares::Share& its = body.process.temp_space.of_clients().of(greedy.peer.address);
  its.add(20'000);
  CHECK_FALSE(Spill(body.process.services, greedys).find_file_room(1));  // its client's
  CHECK_FALSE(body.spill->keeps_space(now()));
  its.add(-20'000);
  REQUIRE(body.process.temp_space.try_take(78'000, 80'000));
  CHECK(Spill(body.process.services, greedys).find_file_room(1000));
  CHECK_FALSE(body.spill->keeps_space(now()));
  CHECK_FALSE(Spill(body.process.services, greedys).find_file_room(1001));
  CHECK(body.spill->keeps_space(now()));
  CHECK_FALSE(Spill(body.process.services, greedys).keeps_space(now()));  // it takes none
  CHECK_FALSE(body.spill->keeps_space(now() + std::chrono::seconds(10)));
  body.send_all();
  CHECK_FALSE(body.spill->keeps_space(now()));
  body.process.temp_space.give_back(78'000);
}

TEST_CASE("a body that may have no temporary file does not say that disk space is short") {
  Keeping body(1, 0);
  CHECK_FALSE(body.spill->find_file_room(1));
  CHECK_FALSE(body.process.temp_space.missed_lately(body.process.services.now()));
  CHECK(body.process.gauges->temp_files_over_limit.value() == 0);
}

TEST_CASE("a file that fails half-way is followed by memory") {
  std::mt19937 random(5);
  Keeping body(0, 10'000);
  body.keep(noise(random, 9000));
  body.keep(noise(random, 900));
  body.keep(noise(random, 500));  // beyond its part of the space
  body.keep(noise(random, 30));
  CHECK(body.process.gauges->buffered_bytes.value() == 2 * kBlock);
  body.send_all();
  CHECK((body.sent == body.kept));
}

}  // namespace spillway::proxy
