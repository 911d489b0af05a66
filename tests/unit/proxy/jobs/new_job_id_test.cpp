// Ids of new jobs: nobody guesses them.
#include "proxy/jobs/new_job_id.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

using namespace spillway;

namespace {

constexpr std::size_t kIds = 64;
constexpr std::size_t kTimeBytes = 5;

std::vector<jobs::JobId> ids_of(jobs::WallTime accepted) {
  std::vector<jobs::JobId> ids;
  for (std::size_t n = 0; n < kIds; ++n) ids.push_back(proxy::new_job_id(accepted).value());
  return ids;
}

std::size_t values_of_byte(const std::vector<jobs::JobId>& ids, std::size_t at) {
  std::set<std::uint8_t> values;
  for (const jobs::JobId& id : ids) values.insert(id.bytes[at]);
  return values.size();
}

}  // namespace

TEST_CASE("ids of one moment differ in every byte behind the time, and in none of the time") {
  const auto ids = ids_of(jobs::WallTime(std::chrono::milliseconds(0x1234567890)));
  for (std::size_t at = 0; at < ids.front().bytes.size(); ++at) {
    CAPTURE(at);
    // Of 64 bytes at random fewer than 32 are different once in more than 10^20 times.
    if (at < kTimeBytes)
      CHECK(values_of_byte(ids, at) == 1);
    else
      CHECK(values_of_byte(ids, at) >= 32);
  }
  CHECK(std::set<jobs::JobId>(ids.begin(), ids.end()).size() == kIds);
}
