// An HTTP/1.1 backend of limited capacity, for showing what happens at peak.
//
// Every request waits in an unbounded line for one of a few slots, occupies the slot for its
// service time and gets a small JSON answer, whatever its path. The service time is drawn; that of
// a request that says its number (request_number.hpp) depends on nothing but that. Answers to reads
// of pages (pages.hpp) may be stored for `max_age` and checked by their ETag, at the price of any
// other request; all other answers must not be stored. With a site of its own (Site) it answers
// what that says instead. Asked by Spillway-Degrade to, it leaves out the expensive part of the
// work. Like most backends it goes on working for clients that have already left; such work is
// counted as wasted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/time.hpp"
#include "bench/load/request_number.hpp"
#include "bench/load/service_time.hpp"
#include "bench/load/slots.hpp"

namespace spillway::load {

struct BackendOptions {
  std::size_t slots = 16;
  Milliseconds service{20};  // mean; capacity is slots / service
  double sigma = 0.35;       // spread of the service time, see ServiceTime
  Tail tail{};
  std::size_t thrash = 0;  // requests inside beyond which everything slows down; 0: never
  std::chrono::seconds max_age{2};
  double expensive = 0.5;  // share of the work left out for `Spillway-Degrade: skip-downstream`
  std::uint64_t seed = 1;
};

// What one request took of the backend.
struct Work {
  std::optional<RequestNumber> number;  // if it said one
  Duration service{};                   // the time it was to hold a slot
  Duration held{};                      // and did
  bool gone = false;                    // its connection was closed meanwhile
};

// What answers in place of the small JSON, when the work for a request is done.
struct SiteRequest {
  std::string_view method;
  std::string_view target;
  std::string_view pass;  // the field Spillway-Pass: whom a waiting room has let in
};
struct SiteResponse {
  unsigned status = 200;
  std::string content_type;
  std::string body;
};
using Site = std::function<SiteResponse(const SiteRequest&)>;

// Lives on one thread: the one that runs `io`.
class Backend {
 public:
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  // Binds at once; throws boost::system::system_error when the endpoint is taken.
  Backend(boost::asio::io_context& io, const boost::asio::ip::tcp::endpoint& listen,
          const BackendOptions& options);

  // Starts accepting; the backend must outlive `io.run()`.
  void start();

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  // Is told of each piece of work when it is finished, before the answer is sent.
  void on_finished(std::function<void(const Work&)> told) { told_ = std::move(told); }

  void serve_site(Site site) { site_ = std::move(site); }

  // From now on: so many slots; work that is begun takes 1 / `speed` as long. `speed` > 0.
  void set_slots(std::size_t slots);
  void set_speed(double speed) { speed_ = speed; }

  struct Counters {
    std::uint64_t finished = 0;  // pieces of work, wasted ones included
    std::uint64_t wasted = 0;    // finished for a client that had already gone
    std::uint64_t pages = 0;     // finished reads of pages
  };
  const Counters& counters() const { return counters_; }
  std::size_t waiting() const { return slots_.waiting(); }

 private:
  struct Session;

  static boost::asio::awaitable<void> accept_all(Backend& backend);
  static boost::asio::awaitable<void> serve(Backend& backend, Socket socket);
  // Waits for a slot and holds it for `share` of the service time; adds to `work`.
  static boost::asio::awaitable<void> hold_slot(Backend& backend, Session& session, double share,
                                                Work& work);
  void wake_next();

  boost::asio::io_context& io_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      acceptor_;
  std::size_t thrash_;
  double expensive_;
  double speed_ = 1;
  std::string page_caching_;  // Cache-Control of a page
  ServiceTime service_;
  Slots<boost::asio::steady_timer*> slots_;
  Counters counters_;
  std::function<void(const Work&)> told_ = [](const Work&) {};
  Site site_;  // may be empty
};

}  // namespace spillway::load
