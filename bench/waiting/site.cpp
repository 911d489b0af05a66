#include "bench/waiting/site.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "bench/load/connection.hpp"
#include "bench/overload/pinning.hpp"

namespace spillway::waiting_bench {
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

// All other keys have their defaults.
constexpr const char* kConfiguration = R"({{
  "listen": {{ "port": {} }},
  "admin": {{ "port": {} }},
  "limits": {{ "tunnels": 8000 }},
  "store": {{ "url": "sqlite:jobs.db" }},
  "upstreams": [{{ "name": "shop", "servers": ["127.0.0.1:{}"] }}],
  "routes": [
    {{ "name": "sale", "match": {{ "path": "/sale/**" }}, "class": "P1",
      "waiting_room": {{ "active_sessions": {}, "max_wait_ms": 86400000, "when": "{}", "max_tickets": {},
        "joins_per_second": 1000000, "secure_cookie": false }} }},
    {{ "name": "free", "match": {{ "path": "/free/**" }}, "class": "P1" }}
  ]
}})";

asio::awaitable<void> ask(asio::io_context& io, load::Endpoint to, std::string& metrics) {
  load::Connection connection(io);
  const load::Reply reply = co_await load::Connection::ask(
      connection, to, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  metrics = reply.response.body();
  connection.reset();
}

}  // namespace

Folder::Folder() : path_((fs::temp_directory_path() / "spillway-waiting-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Site::Site(const std::string& spillway, const Room& room)
    : backend_({.slots = 64, .service = Milliseconds(1), .sigma = 0}),
      port_(bench::free_port()),
      admin_(bench::free_port()) {
  backend_.start(bench::kAnyCore, std::nullopt, {}, {}, [](const load::Work&) {});
  const std::string file = folder_.path() + "/spillway.json";
  std::ofstream(file) << fmt::format(kConfiguration, port_, admin_, backend_.port(), room.sessions,
                                     room.when, room.max_tickets);
  const std::string log = folder_.path() + "/log";
  proxy_.emplace(std::vector<std::string>{spillway, "run", "--config", file}, log, bench::kAnyCore);
  if (!proxy_->await_port(port_, [] { return false; }))
    throw std::runtime_error("the proxy does not start: " + bench::end_of_file(log, 2000));
}

std::size_t Site::tickets(asio::io_context& io) const {
  std::string metrics;
  io.restart();
  asio::co_spawn(io, ask(io, {asio::ip::address_v4::loopback(), admin_}, metrics), asio::detached);
  io.run();
  constexpr std::string_view kName = "\nspillway_waiting_room_joined_total{";
  const auto at = metrics.find("} ", metrics.find(kName));
  std::size_t tickets = 0;
  const char* const number = metrics.data() + at + 2;
  if (at == std::string::npos ||
      std::from_chars(number, metrics.data() + metrics.size(), tickets).ec != std::errc())
    throw std::runtime_error("the proxy does not say how many tickets it has made");
  return tickets;
}

}  // namespace spillway::waiting_bench
