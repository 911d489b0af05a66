// One visitor: a browser with a cookie and a connection, and somebody before it who acts by a
// script.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/random.hpp"
#include "bench/crowd/record.hpp"
#include "bench/crowd/script.hpp"
#include "bench/crowd/venue.hpp"
#include "bench/load/connection.hpp"
#include "bench/load/endpoint.hpp"

namespace spillway::crowd {

// Of all visitors together.
struct Counters {
  std::uint64_t entered = 0;
  std::uint64_t polls = 0;
};

struct Place {
  boost::asio::io_context& io;
  load::Endpoint proxy;
  const Venue& venue;
  Counters& counters;
};

class Visitor : public std::enable_shared_from_this<Visitor> {
 public:
  Visitor(const Place& place, std::size_t number, std::uint64_t seed);

  // From its first contact until it has left.
  static boost::asio::awaitable<void> visit(std::shared_ptr<Visitor> visitor);

  const Record& record() const { return record_; }

 private:
  struct Asked {
    Span span;
    load::Reply reply;
    unsigned status = 0;  // 0: no answer
  };
  enum class Turn : std::uint8_t { not_yet, enter, never };

  // False: it does not come in.
  static boost::asio::awaitable<bool> come_in(Visitor& visitor);
  static boost::asio::awaitable<bool> wait_in_line(Visitor& visitor, Duration poll,
                                                   TimePoint heard);
  static boost::asio::awaitable<void> look_around(Visitor& visitor);
  static boost::asio::awaitable<Asked> ask(Visitor& visitor, std::string_view method,
                                           std::string path, std::string_view fields);
  static boost::asio::awaitable<Asked> ask_for_page(Visitor& visitor);
  static boost::asio::awaitable<void> pause(Visitor& visitor, Duration time);

  Turn read(const Asked& polled);
  std::string own_path(std::string_view part) const;
  void end(Fate fate) { record_.fate = fate; }
  void fail(std::string what);
  void inside();

  Place place_;
  Script script_;
  Record record_;
  Random random_;
  load::Connection connection_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer deadline_;
  std::string cookie_name_;
  std::string cookie_;
};

}  // namespace spillway::crowd
