// All visitors together: when each comes, what is printed meanwhile, and when it is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include "admin_watch.hpp"
#include "bench/crowd/findings.hpp"
#include "bench/crowd/venue.hpp"
#include "bench/crowd/visitor.hpp"
#include "bench/load/endpoint.hpp"

namespace spillway::crowd {

struct CrowdOptions {
  load::Endpoint proxy;
  load::Endpoint admin;
  load::Endpoint site;
  Venue venue;
  std::size_t visitors = 140;
  Duration over{};     // in which they come
  bool ends = true;    // false: for each who has gone another comes, until stop()
  Duration longest{};  // if it ends
  std::uint64_t seed = 1;
};

// Lives on one thread: the one that runs `io`.
class Crowd {
 public:
  Crowd(boost::asio::io_context& io, CrowdOptions options);

  // Returns when all who stay have come and gone, after `longest` at the latest; then stops `io`.
  static boost::asio::awaitable<void> run(Crowd& crowd);

  // Of those who are kept: if it does not end, only those who are still there.
  std::vector<Record> records() const;
  Findings findings(const std::vector<Record>& records) const;

 private:
  static boost::asio::awaitable<void> arrive(Crowd& crowd);
  static boost::asio::awaitable<void> follow(Crowd& crowd);
  static boost::asio::awaitable<void> watch_site(Crowd& crowd);
  static boost::asio::awaitable<void> ask_site(Crowd& crowd, load::Connection& connection);
  static boost::asio::awaitable<void> watch_sessions(Crowd& crowd);
  static boost::asio::awaitable<void> visit(Crowd& crowd, std::shared_ptr<Visitor> visitor);

  void add();
  bool is_over() const;

  boost::asio::io_context& io_;
  CrowdOptions options_;
  Counters counters_;
  demo::AdminWatch admin_;
  std::deque<std::shared_ptr<Visitor>> visitors_;
  std::size_t came_ = 0;
  std::size_t staying_ = 0;  // those who stay and have not ended
  bool all_came_ = false;
  Heads departed_;  // of those who are not kept
  std::optional<demo::SaleReport> report_;
  std::optional<std::uint64_t> most_sessions_;
  TimePoint start_;
};

}  // namespace spillway::crowd
