// How a malicious client behaves: what it does with each of its connections.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "base/random.hpp"
#include "bench/hostile/connection.hpp"

namespace spillway::hostile {

class Behaviour {
 public:
  virtual ~Behaviour() = default;

  // Uses an open connection for as long as the behaviour wants it or the proxy leaves it open. The
  // crowd resets it then and opens the next one.
  virtual boost::asio::awaitable<void> use(Connection& connection, Random& random) const = 0;
};

// A behaviour and the means that it takes, within usage.hpp's bounds.
struct Manner {
  std::string_view name;  // as in result lines
  std::string_view sentence;
  std::unique_ptr<Behaviour> (*make)();
  std::size_t connections = 0;     // at a time
  double connects_per_second = 0;  // new connections, at most
  int receive_buffer = 0;          // of a connection, see Route
  std::size_t places = 0;          // the contender's limit of connections; 0: as configured
};

std::span<const Manner> manners();

// nullptr: there is none of that name.
const Manner* find_manner(std::string_view name);

inline constexpr std::string_view kEventsRequest =  // of backend.hpp's kEventsPath
    "GET /export/events HTTP/1.1\r\nHost: shop.example\r\nAccept: text/event-stream\r\n\r\n";

// What the slow readers of P0 ask for. Checkouts are POSTs: a GET of that path is of another class.
std::string p0_reader_request();

// Those that hold what a connection takes, by being slow.
std::unique_ptr<Behaviour> make_silent();
std::unique_ptr<Behaviour> make_slow_head();
std::unique_ptr<Behaviour> make_slow_body();
std::unique_ptr<Behaviour> make_expect_silence();
std::unique_ptr<Behaviour> make_slow_upload();
std::unique_ptr<Behaviour> make_grpc_upload();
std::unique_ptr<Behaviour> make_slow_reader();
std::unique_ptr<Behaviour> make_huge_reader();
std::unique_ptr<Behaviour> make_p0_reader();
std::unique_ptr<Behaviour> make_paying_reader();
std::unique_ptr<Behaviour> make_tunnel_hoarder();
std::unique_ptr<Behaviour> make_events_hoarder();
std::unique_ptr<Behaviour> make_keep_alive_hoarder();

// Those that ask for more than they take.
std::unique_ptr<Behaviour> make_pipeliner();
std::unique_ptr<Behaviour> make_churn();
std::unique_ptr<Behaviour> make_abort();
std::unique_ptr<Behaviour> make_half_closed();
std::unique_ptr<Behaviour> make_events_leaver();
std::unique_ptr<Behaviour> make_tiny_deadline();
std::unique_ptr<Behaviour> make_cache_buster();
std::unique_ptr<Behaviour> make_path_climber();
std::unique_ptr<Behaviour> make_error_maker();

}  // namespace spillway::hostile
