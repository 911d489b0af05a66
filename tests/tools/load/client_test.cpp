// The client against the backend, over real loopback connections.
#include "bench/load/client.hpp"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "bench/load/backend.hpp"
#include "bench/load/endpoint.hpp"
#include "bench/load/kinds.hpp"
#include "bench/load/pages.hpp"

using namespace spillway;
using namespace spillway::load;
namespace asio = boost::asio;
namespace http = boost::beast::http;
using Response = http::response<http::string_body>;

namespace {

const Endpoint kAnyPort{asio::ip::address_v4::loopback(), 0};

// What the client said, by the kind of the arrival.
class Seen final : public Observer {
 public:
  struct Kind {
    int sent = 0;
    int ok = 0;
    int failed = 0;
    int again = 0;
    std::vector<std::string> causes;
    std::vector<Duration> ends;  // since the start
  };

  void sent(const Attempt& attempt, Duration late) override {
    ++kinds.at(attempt.arrival.kind).sent;
    CHECK(late >= Duration::zero());
  }
  void ended(const Attempt& attempt, const Ending& ending, Duration took, bool again) override {
    Kind& kind = kinds.at(attempt.arrival.kind);
    ++(ending.fate == Fate::ok ? kind.ok : kind.failed);
    kind.again += again ? 1 : 0;
    kind.causes.push_back(ending.cause);
    kind.ends.push_back(attempt.due + took);
  }

  std::array<Kind, kKindCount> kinds;
};

asio::awaitable<void> run_and_stop(Client& client, asio::io_context& io) {
  co_await client.run(Clock::now());
  io.stop();
}

Seen send(asio::io_context& io, const Endpoint& target, std::span<const Arrival> arrivals,
          ClientOptions options) {
  Seen seen;
  Client client(io, target, arrivals, seen, options);
  asio::co_spawn(io, run_and_stop(client, io), asio::detached);
  io.restart();
  io.run();
  return seen;
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
  const Seen seen = send(io, target, arrivals, {.patience = std::chrono::seconds(20)});
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    CHECK(seen.kinds[kind].sent == 20);
    CHECK(seen.kinds[kind].ok == 20);
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
  const Seen seen = send(io, target, arrivals, {.patience = Milliseconds(30)});
  CHECK(seen.kinds[2].failed == 4);
  CHECK(seen.kinds[2].causes == std::vector<std::string>(4, std::string(kTimeout)));
  CHECK(seen.kinds[0].sent == 1);
  CHECK(backend.counters().finished >= 4);
  CHECK(backend.counters().wasted >= 4);
}

TEST_CASE("a refused connection is a failure and not a hang") {
  asio::io_context io(1);
  asio::ip::tcp::acceptor taken(io, kAnyPort);
  const Endpoint closed = taken.local_endpoint();
  taken.close();
  const std::vector<Arrival> arrivals(3, Arrival{Duration::zero(), 1, 0});
  const Seen seen = send(io, closed, arrivals, {.patience = std::chrono::seconds(5)});
  CHECK(seen.kinds[1].failed == 3);
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
  CHECK(send(io, target, arrivals, {.patience = std::chrono::seconds(20)}).kinds[1].ok == 3);
  CHECK(backend.counters().pages == 3);
}

TEST_CASE("a refused client tries again after a pause and counts as waiting for that attempt") {
  asio::io_context io(1);
  asio::ip::tcp::acceptor taken(io, kAnyPort);
  const Endpoint closed = taken.local_endpoint();
  taken.close();
  const std::vector<Arrival> arrivals(3, Arrival{.kind = 1});
  const Retries twice{.most = 2, .backoff = {.base = Milliseconds(20), .jitter = 0}};
  const Seen seen = send(io, closed, arrivals, {.retries = twice});
  CHECK(seen.kinds[1].sent == 9);
  CHECK(seen.kinds[1].failed == 9);
  CHECK(seen.kinds[1].again == 6);
  for (const Duration end : std::vector(seen.kinds[1].ends.end() - 3, seen.kinds[1].ends.end())) {
    CHECK(end >= Milliseconds(20 + 40));
  }
  CHECK(send(io, closed, arrivals, {}).kinds[1].sent == 3);
}

TEST_CASE("no client tries again later than the last instant for it") {
  asio::io_context io(1);
  asio::ip::tcp::acceptor taken(io, kAnyPort);
  const Endpoint closed = taken.local_endpoint();
  taken.close();
  const std::vector<Arrival> arrivals(3, Arrival{.kind = 1});
  const Retries once{.most = 1, .backoff = {.base = std::chrono::minutes(10), .jitter = 0}};
  const Seen seen = send(io, closed, arrivals, {.retries = once, .last = std::chrono::minutes(1)});
  CHECK(seen.kinds[1].sent == 3);
  CHECK(seen.kinds[1].again == 0);
}

TEST_CASE("a kept connection that the server has closed is not used again") {
  asio::io_context io(1);
  asio::ip::tcp::acceptor acceptor(io, kAnyPort);
  int connections = 0;
  // Answers one request of each connection, then closes it without saying so.
  const auto serve = [&]() -> asio::awaitable<void> {
    for (;; ++connections) {
      auto socket = co_await acceptor.async_accept(asio::use_awaitable);
      boost::beast::flat_buffer input;
      http::request<http::string_body> request;
      co_await http::async_read(socket, input, request, asio::use_awaitable);
      Response response(http::status::ok, 11);
      response.prepare_payload();
      co_await http::async_write(socket, response, asio::use_awaitable);
    }
  };
  asio::co_spawn(io, serve(), asio::detached);
  const std::vector<Arrival> arrivals{{.at = Duration::zero()}, {.at = Milliseconds(100)}};
  CHECK(send(io, acceptor.local_endpoint(), arrivals, {}).kinds[0].ok == 2);
  CHECK(connections == 2);
}

TEST_CASE("tenants come from addresses of their own on connections of their own") {
  asio::io_context io(1);
  asio::ip::tcp::acceptor acceptor(io, kAnyPort);
  std::vector<std::string> addresses;
  const auto serve = [&]() -> asio::awaitable<void> {
    for (;;) {
      auto socket = co_await acceptor.async_accept(asio::use_awaitable);
      addresses.push_back(socket.remote_endpoint().address().to_string());
      boost::beast::flat_buffer input;
      http::request<http::string_body> request;
      co_await http::async_read(socket, input, request, asio::use_awaitable);
      Response response(http::status::ok, 11);
      response.keep_alive(true);
      response.prepare_payload();
      co_await http::async_write(socket, response, asio::use_awaitable);
    }
  };
  asio::co_spawn(io, serve(), asio::detached);
  std::vector<Arrival> arrivals;
  for (const std::uint8_t tenant : {0, 7, 200}) arrivals.push_back({.tenant = tenant});
  CHECK(send(io, acceptor.local_endpoint(), arrivals, {}).kinds[0].ok == 3);
  CHECK(addresses == std::vector<std::string>{"127.0.0.1", "127.0.1.7", "127.0.1.200"});
}

TEST_CASE(
    "the backend is as slow and as narrow as it is told to be and says what each request took") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort, {.slots = 4, .service = Milliseconds(20), .sigma = 0});
  backend.start();
  std::vector<Work> finished;
  backend.on_finished([&](const Work& work) { finished.push_back(work); });
  backend.set_slots(1);
  backend.set_speed(2);
  const std::vector<Arrival> arrivals(4);
  const Endpoint target(kAnyPort.address(), backend.port());
  const Seen seen = send(io, target, arrivals, {.patience = std::chrono::seconds(20)});
  CHECK(seen.kinds[0].ok == 4);
  REQUIRE(finished.size() == 4);
  std::vector<std::uint32_t> numbers;
  for (const Work& work : finished) {
    CHECK(to_milliseconds(work.service) == doctest::Approx(10));
    CHECK(work.held >= work.service);
    CHECK_FALSE(work.gone);
    REQUIRE(work.number.has_value());
    numbers.push_back(work.number->arrival);
  }
  CHECK(numbers == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(seen.kinds[0].ends.back() >= Milliseconds(40));  // one after the other
}

TEST_CASE("lost slots come back to waiting requests") {
  asio::io_context io(1);
  Backend backend(io, kAnyPort, {.slots = 0, .service = Milliseconds(1), .sigma = 0});
  backend.start();
  asio::steady_timer restored(io, Milliseconds(50));
  restored.async_wait([&](auto) { backend.set_slots(8); });
  const std::vector<Arrival> arrivals(8);
  const Endpoint target(kAnyPort.address(), backend.port());
  const Seen seen = send(io, target, arrivals, {.patience = std::chrono::seconds(20)});
  CHECK(seen.kinds[0].ok == 8);
  CHECK(seen.kinds[0].ends.front() >= Milliseconds(50));
}
