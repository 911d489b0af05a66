// Attacks with real sockets and processes over loopback.
#include <doctest/doctest.h>

#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "bench/hostile/behaviour.hpp"
#include "bench/hostile/crowd.hpp"
#include "bench/hostile/play.hpp"
#include "bench/hostile/traffic.hpp"
#include "bench/load/descriptors.hpp"
#include "bench/overload/configuration.hpp"
#include "support/child_process.hpp"
#include "support/places.hpp"
#include "support/temporary_directory.hpp"

using namespace spillway;
using namespace spillway::hostile;
namespace asio = boost::asio;
namespace fs = std::filesystem;
using asio::ip::tcp;

namespace {

struct Folder {
  Folder() {
    REQUIRE(mkdtemp(path.data()) != nullptr);
    fs::permissions(path, fs::perms(0755));  // NGINX's workers are somebody else
  }
  ~Folder() { fs::remove_all(path); }
  std::string path = (fs::temp_directory_path() / "spillway-hostile-XXXXXX").string();
};

// On a busy machine load and backend may be late, which says nothing about the proxy: then again.
Result play_one(const std::string& behaviour, const std::string& contender) {
  load::raise_descriptor_limit();
  const Folder folder;
  const Stage stage{.programs = {.spillway = support::in_build("spillway"),
                                 .nginx = "nginx",
                                 .haproxy = "haproxy"},
                    .configurations = support::in_source("bench/peers"),
                    .work = folder.path,
                    .pinned = false,
                    .late_is_fine = true};
  const auto cells =
      plan({.quick = true, .behaviours = {behaviour}, .contenders = {contender}, .seconds = 2});
  REQUIRE(cells.size() == 1);
  Result result = play(cells.front(), stage);
  for (int again = 0; again < 4 && late(result); ++again) result = play(cells.front(), stage);
  INFO(result_text(result));
  CHECK(result.failure == "");
  return result;
}

// 99.9 %, unless the machine was busy in all attempts: then nothing can be said.
void check_that_p0_is_answered(const Result& result) {
  if (late(result)) {
    MESSAGE("the machine was busy in all attempts: ", result_text(result));
    return;
  }
  CHECK(answered_ratio(result.probes.p0()) >= 0.999);
}

}  // namespace

TEST_CASE("slow readers of P0 are of P0 in the configurations that they attack") {
  std::istringstream request(p0_reader_request());
  std::string method, path;
  request >> method >> path;
  const support::TemporaryDirectory directory;
  for (const char* const name : {"overload-spillway.json", "overload-spillway-auto.json"}) {
    std::ifstream file(support::in_source(std::string("bench/peers/") + name));
    const std::string text =
        bench::fill_in(std::string(std::istreambuf_iterator<char>(file), {}),
                       {{"PORT", "1"}, {"ADMIN", "2"}, {"BACKEND", "3"}, {"CONCURRENCY", "16"}});
    const auto explained =
        support::run({support::in_build("spillway"), "explain", "--config",
                      directory.write("spillway.json", text).string(), method, path});
    INFO(explained.out);
    CHECK(explained.out.find("P0") != std::string::npos);
    CHECK(explained.out.find("P1") == std::string::npos);
  }
}

TEST_CASE("the kernel tells the payload of a connection, one's own and another's") {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  tcp::socket client(io);
  client.connect(acceptor.local_endpoint());
  tcp::socket server = acceptor.accept();
  asio::write(client, asio::buffer("twelve bytes", 12));
  std::array<char, 12> bytes;
  asio::read(server, asio::buffer(bytes));
  CHECK(bytes_of(client.native_handle()) == 12);
  CHECK(bytes_of(server.native_handle()) == 12);
  CHECK_FALSE(bytes_of(-1).has_value());
  const auto seen = connections_to(acceptor.local_endpoint().port());
  REQUIRE(seen.size() == 1);
  CHECK(seen.begin()->second == 12);
}

TEST_CASE("a crowd has as many connections as its manner, and none after it was stopped") {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::address_v4::loopback(), 0});
  Manner manner = *find_manner("slow-head");
  manner.connections = 3;
  Crowd crowd(manner, {.target = acceptor.local_endpoint(), .addresses = 2});
  crowd.start();
  std::map<std::string, int> from;
  std::vector<tcp::socket> accepted;
  for (int n = 0; n < 3; ++n) {
    accepted.push_back(acceptor.accept());
    ++from[accepted.back().remote_endpoint().address().to_string()];
  }
  std::array<char, 4> begin;
  for (tcp::socket& each : accepted) asio::read(each, asio::buffer(begin));
  CHECK(std::string(begin.data(), 4) == "POST");
  const Usage usage = crowd.stop();
  CHECK(from == std::map<std::string, int>{{"127.0.2.1", 2}, {"127.0.2.2", 1}});
  CHECK(usage.connections == 3);
  CHECK(usage.bytes > 3 * 20);
  for (tcp::socket& each : accepted) {
    boost::system::error_code error;
    std::array<char, 4096> rest;
    while (!error) each.read_some(asio::buffer(rest), error);
    CHECK(error == asio::error::connection_reset);
  }
}

TEST_CASE("clients that expect 100 (Continue) and fall silent stop HAProxy and not Spillway") {
  const Result ours = play_one("expect-silence", "spillway");
  CHECK(ours.usage.connections > 500);
  check_that_p0_is_answered(ours);
  const Result theirs = play_one("expect-silence", "haproxy");
  CHECK(theirs.usage.connections > 500);
  CHECK(answered_ratio(theirs.probes.p0()) < 0.5);
}

TEST_CASE("slowhttptest's slow bodies do not stop P0") {
  const Result result = play_one("slowhttptest-B", "spillway");
  CHECK(result.usage.connections > 100);
  CHECK(result.usage.bytes > 1000);
  check_that_p0_is_answered(result);
}

TEST_CASE("a pipeliner that never reads keeps within its means") {
  const Result result = play_one("pipeliner", "spillway");
  CHECK(result.usage.connections <= kMostConnections);
  CHECK(result.usage.bytes > 100'000);
  check_that_p0_is_answered(result);
}

TEST_CASE("clients that upload slowly, also as gRPC, do not stop P0") {
  for (const char* behaviour : {"slow-upload", "grpc-upload"}) {
    CAPTURE(behaviour);
    const Result result = play_one(behaviour, "spillway");
    CHECK(result.usage.connections >= 100);
    CHECK(result.usage.bytes > 1'000'000);
    check_that_p0_is_answered(result);
  }
}

TEST_CASE("clients that read responses of 4 or 160 MiB slowly do not stop P0") {
  for (const char* behaviour : {"slow-reader", "slow-reader-huge"}) {
    CAPTURE(behaviour);
    const Result result = play_one(behaviour, "spillway");
    CHECK(result.usage.connections >= 100);
    check_that_p0_is_answered(result);
  }
}

TEST_CASE("clients that leave, ask for what fails, or spell P2 as P0 do not stop P0") {
  for (const char* behaviour : {"abort", "error-maker", "path-climber"}) {
    CAPTURE(behaviour);
    const Result result = play_one(behaviour, "spillway");
    CHECK(result.usage.connections > 10);
    check_that_p0_is_answered(result);
  }
}

TEST_CASE("clients that hoard tunnels, streams of events or responses, or leave, do not stop P0") {
  for (const char* behaviour :
       {"tunnel-hoarder", "events-hoarder", "events-leaver", "paying-reader"}) {
    CAPTURE(behaviour);
    const Result result = play_one(behaviour, "spillway");
    CHECK(result.usage.connections > 10);
    check_that_p0_is_answered(result);
  }
}

TEST_CASE("clients that keep a full house busy lock others out of HAProxy and not of Spillway") {
  const Result ours = play_one("keep-alive-hoarder", "spillway");
  CHECK(ours.usage.connections >= 100);
  CHECK(ours.usage.opened > 100);  // some had to leave
  check_that_p0_is_answered(ours);
  const Result theirs = play_one("keep-alive-hoarder", "haproxy");
  CHECK(answered_ratio(theirs.probes.p0()) < 0.95);
}
