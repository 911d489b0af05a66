// A backend with a fixed number of workers, as those with a process or thread a request: from a
// request's head on a worker has nothing but this request, until its body has been read, its work
// is done and its answer has been taken. So a slow peer occupies it. Requests above the number of
// workers wait in an unbounded line. It works on for clients that have left.
//
// Every path gets a small JSON answer, kLargePath one of 4 MiB, kHugePath and kHugeP0Path one of
// 160 MiB, kBrokenPath status 500. kTunnelPath switches protocols, kEventsPath is a stream of
// events, one a second; neither needs a worker once its head is sent. That a client has left its
// stream shows when the next event cannot be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/time.hpp"
#include "bench/load/service_time.hpp"
#include "bench/load/slots.hpp"

namespace spillway::hostile {

inline constexpr std::string_view kLargePath = "/export/large";
inline constexpr std::size_t kLargeBytes = 4 << 20;
inline constexpr std::string_view kHugePath = "/export/huge";
inline constexpr std::string_view kHugeP0Path = "/checkout/huge";
inline constexpr std::size_t kHugePieces = 40;  // of kLargeBytes
inline constexpr std::string_view kBrokenPath = "/export/broken";
inline constexpr std::string_view kTunnelPath = "/export/tunnel";
inline constexpr std::string_view kEventsPath = "/export/events";

struct BackendOptions {
  std::size_t workers = 16;
  Milliseconds service{20};  // mean
  double sigma = 0.5;        // spread, see load::ServiceTime
  std::uint64_t seed = 1;
};

// On a thread of its own.
class Backend {
 public:
  explicit Backend(const BackendOptions& options);  // binds any port of 127.0.0.1
  ~Backend() { stop(); }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  void start(int core);  // see overload/pinning.hpp
  void stop();

  // After stop().
  struct Counters {
    std::uint64_t finished = 0;  // requests, those for nobody included
    std::uint64_t wasted = 0;    // whose connection was closed meanwhile
    std::size_t most = 0;        // inside at a time, those in the line included
    std::vector<Duration> late;  // of each, how much longer its work took than drawn
  };
  const Counters& counters() const { return counters_; }

 private:
  using Executor = boost::asio::io_context::executor_type;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
  struct Visit;

  static boost::asio::awaitable<void> accept_all(Backend& backend);
  static boost::asio::awaitable<void> serve(Backend& backend, Socket socket);
  static boost::asio::awaitable<bool> serve_one(Backend& backend, Visit& visit);
  static boost::asio::awaitable<bool> work(Backend& backend, Visit& visit);
  static boost::asio::awaitable<bool> answer(Visit& visit, std::string_view path);
  static boost::asio::awaitable<void> tunnel(Visit& visit);
  static boost::asio::awaitable<void> send_events(Visit& visit);
  void leave();

  boost::asio::io_context io_{1};
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor> acceptor_;
  load::ServiceTime service_;
  load::Slots<boost::asio::steady_timer*> workers_;
  Counters counters_;
  std::thread thread_;
};

}  // namespace spillway::hostile
