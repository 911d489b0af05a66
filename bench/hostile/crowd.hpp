// The connections of one behaviour, on a thread of their own: as many at a time, and as many new
// ones a second, as its manner says; each that ends is followed by another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "base/time.hpp"
#include "bench/hostile/attacker.hpp"
#include "bench/hostile/behaviour.hpp"

namespace spillway::hostile {

// Bytes a second that a crowd allows itself; a connection may still be sent some that it did not
// ask to read.
inline constexpr double kAllowedBytesPerSecond = 600e3;

struct CrowdOptions {
  boost::asio::ip::tcp::endpoint target;
  std::size_t addresses = 1;  // 127.0.2.1 and so on, 1 to 250, used in turn
  int core = -1;              // of the thread, see overload/pinning.hpp
};

class Crowd final : public Attacker {
 public:
  Crowd(const Manner& manner, const CrowdOptions& options);
  ~Crowd() override { stop(); }

  void start() override;
  Usage stop() override;

 private:
  static boost::asio::awaitable<void> attack(Crowd& crowd, std::size_t member);

  Manner manner_;
  CrowdOptions options_;
  std::unique_ptr<Behaviour> behaviour_;
  Means means_;
  Ledger ledger_;
  boost::asio::io_context io_{1};
  std::set<Connection*> open_;
  bool stopping_ = false;
  TimePoint started_;
  Usage used_;
  std::thread thread_;
};

}  // namespace spillway::hostile
