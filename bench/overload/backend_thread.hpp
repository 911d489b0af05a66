// The backend of a cell on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>

#include "base/time.hpp"
#include "bench/load/backend.hpp"
#include "bench/overload/scenario.hpp"

namespace spillway::bench {

class BackendThread {
 public:
  explicit BackendThread(const load::BackendOptions& options);  // binds any port of 127.0.0.1
  ~BackendThread() { stop(); }

  std::uint16_t port() const { return backend_.port(); }

  // Serves on the core `core` from now on; disturbed from `from` to `until`. `finished` is called
  // on the thread. Until then connections wait in the backlog.
  void start(int core, const std::optional<Disturbance>& disturbance, TimePoint from,
             TimePoint until, std::function<void(const load::Work&)> finished);

  // Afterwards what `finished` wrote may be read.
  void stop();

 private:
  boost::asio::io_context io_{1};
  load::Backend backend_;
  std::size_t slots_;
  std::thread thread_;
};

}  // namespace spillway::bench
