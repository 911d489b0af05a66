// The spike's client against the demo backend, over real loopback connections.
#include "client.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"
#include "endpoint.hpp"
#include "pages.hpp"

using namespace spillway;
using namespace spillway::demo;
namespace asio = boost::asio;
namespace http = boost::beast::http;
using Response = http::response<http::string_body>;

namespace {

const Endpoint kAnyPort{asio::ip::address_v4::loopback(), 0};

asio::awaitable<void> run_and_stop(Client& client, asio::io_context& io) {
  co_await client.run(Clock::now());
  io.stop();
}

Tally send(asio::io_context& io, const Endpoint& target, std::span<const Arrival> arrivals,
           Duration patience) {
  Tally tally(1);
  Client client(io, target, arrivals, tally, patience);
  asio::co_spawn(io, run_and_stop(client, io), asio::detached);
  io.run();
  return tally;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

asio::awaitable<void> get(asio::io_context& io, Endpoint target, std::string path, Fields fields,
                          Response& response) {
  asio::ip::tcp::socket socket(io);
  co_await socket.async_connect(target, asio::use_awaitable);
  http::request<http::empty_body> request(http::verb::get, path, 11);
  request.set(http::field::host, "demo.example");
  for (const auto& [name, value] : fields) request.set(name, value);
  co_await http::async_write(socket, request, asio::use_awaitable);
  boost::beast::flat_buffer input;
  co_await http::async_read(socket, input, response, asio::use_awaitable);
  io.stop();
}

Response get(asio::io_context& io, const Backend& backend, std::string path, Fields fields = {}) {
  Response response;
  const Endpoint target(kAnyPort.address(), backend.port());
  asio::co_spawn(io, get(io, target, std::move(path), std::move(fields), response), asio::detached);
  io.restart();
  io.run();
  return response;
}

}  // namespace

TEST_CASE("every request of a backend that keeps up is answered") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort, {.slots = 4, .service = Milliseconds(1)});
  backend.start();
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 60; ++i) {
    arrivals.push_back({Milliseconds(2 * i), static_cast<std::uint8_t>(i % 3), 0});
  }
  const Endpoint target(kAnyPort.address(), backend.port());
  const Tally tally = send(io, target, arrivals, std::chrono::seconds(20));
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    CHECK(tally.phase(0)[kind].offered == 20);
    CHECK(tally.phase(0)[kind].ok == 20);
  }
  CHECK(backend.counters().finished == 60);
  CHECK(backend.counters().wasted == 0);
}

TEST_CASE("a request not answered within the patience is failed and its work wasted") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort, {.slots = 1, .service = Milliseconds(60), .sigma = 0});
  backend.start();
  // All give up before 60 ms of work are done, but the backend works its line off regardless.
  // The last one only keeps the run going until it has.
  std::vector<Arrival> arrivals(4, Arrival{Duration::zero(), 2, 0});
  arrivals.push_back({Milliseconds(400), 0, 0});
  const Endpoint target(kAnyPort.address(), backend.port());
  const Tally tally = send(io, target, arrivals, Milliseconds(30));
  CHECK(tally.phase(0)[2].failed == 4);
  CHECK(tally.failure_causes(2).at("timeout") == 4);
  CHECK(tally.phase(0)[0].ended() == 1);
  CHECK(backend.counters().finished >= 4);
  CHECK(backend.counters().wasted >= 4);
}

TEST_CASE("a refused connection is a failure and not a hang") {
  asio::io_context io(1);
  asio::ip::tcp::acceptor taken(io, kAnyPort);
  const Endpoint closed = taken.local_endpoint();
  taken.close();
  const std::vector<Arrival> arrivals(3, Arrival{Duration::zero(), 1, 0});
  const Tally tally = send(io, closed, arrivals, std::chrono::seconds(5));
  CHECK(tally.phase(0)[1].failed == 3);
}

TEST_CASE("a page may be stored and checked and anything else may not be stored") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort, {.service = Milliseconds(1), .max_age = std::chrono::seconds(7)});
  backend.start();
  const Response page = get(io, backend, path_of("/search", 3));
  CHECK(page[http::field::cache_control] == "max-age=7");
  const std::string tag(page[http::field::etag]);
  CHECK(tag == entity_tag("/search/page/3"));
  CHECK(get(io, backend, "/search/page/3").body() == page.body());

  const Response same =
      get(io, backend, "/search/page/3", {{"If-None-Match", "\"other\", " + tag}});
  CHECK(same.result() == http::status::not_modified);
  CHECK(same[http::field::etag] == tag);
  CHECK(same.body().empty());
  CHECK(get(io, backend, "/search/page/4", {{"If-None-Match", tag}}).result() == http::status::ok);

  const Response own = get(io, backend, "/search", {{"If-None-Match", tag}});
  CHECK(own.result() == http::status::ok);
  CHECK(own[http::field::cache_control] == "no-store");
  CHECK(own.count(http::field::etag) == 0);
}

TEST_CASE("a backend told to leave out the expensive part does") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort,
                  {.slots = 1, .service = Milliseconds(40), .sigma = 0, .expensive = 1});
  backend.start();
  const TimePoint start = Clock::now();
  get(io, backend, "/checkout", {{"Spillway-Degrade", "something-else"}});
  const Duration full = Clock::now() - start;
  for (int i = 0; i < 20; ++i)
    get(io, backend, "/checkout", {{"Spillway-Degrade", "skip-downstream"}});
  CHECK(full >= Milliseconds(40));
  CHECK(Clock::now() - start < full + 20 * Milliseconds(40));
}

TEST_CASE("the client asks for the page of the arrival") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort, {.service = Milliseconds(1)});
  backend.start();
  const std::vector<Arrival> arrivals(3, Arrival{.kind = 1, .page = 9});
  const Endpoint target(kAnyPort.address(), backend.port());
  CHECK(send(io, target, arrivals, std::chrono::seconds(20)).phase(0)[1].ok == 3);
  CHECK(backend.counters().pages == 3);
}
