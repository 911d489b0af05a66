// The small site behind the waiting room: a sale.
//
//     GET  /sale        the page, HTML
//     GET  /sale/sold   {"sold":17}
//     POST /sale/buy    {"order":18}
//     GET  /report      what the site has seen, see SaleReport
//
// Everything else is 404. It counts visitors by their pass (visits.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "bench/load/backend.hpp"
#include "visits.hpp"

namespace spillway::demo {

class Sale {
 public:
  explicit Sale(std::string page) : page_(std::move(page)) {}

  load::SiteResponse answer(const load::SiteRequest& request, TimePoint now);

 private:
  std::string page_;
  Visits visits_;
  std::uint64_t answered_ = 0;  // 200s below /sale
  std::uint64_t sold_ = 0;
};

// What GET /report says, of requests below /sale.
struct SaleReport {
  std::uint64_t answered = 0;  // with 200
  std::uint64_t visitors = 0;  // different passes
  std::uint64_t without_pass = 0;
  std::uint64_t most_at_once = 0;
  std::uint64_t sold = 0;
};

// nullopt if a member is missing.
std::optional<SaleReport> parse_report(std::string_view json);

}  // namespace spillway::demo
