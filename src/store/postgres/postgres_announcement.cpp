#include "store/postgres/postgres_announcement.hpp"

#include <charconv>
#include <cstdint>

#include "base/ids.hpp"
#include "jobs/job_id.hpp"

namespace spillway::store {
namespace {

// PostgreSQL accepts less than 8000 bytes, and fails the transaction for more.
constexpr std::size_t kLongest = 7000;

// No rank of a lane starts like this. By name, since versions may number causes differently.
constexpr std::string_view kCancel = "cancel ";

// Parses up to the next blank, which is removed too.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data() + text.size() || *end != ' ') return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return true;
}

}  // namespace

std::optional<std::string> announcement(const jobs::Lane& lane) {
  if (lane.route.size() > kLongest) return std::nullopt;
  return std::to_string(lane.rank) + ' ' + std::to_string(static_cast<std::uint64_t>(lane.tenant)) +
         ' ' + lane.route;
}

std::optional<jobs::Lane> read_announcement(std::string_view text) {
  jobs::Lane lane;
  std::uint64_t tenant = 0;
  if (!take(text, lane.rank) || !take(text, tenant) || text.empty()) return std::nullopt;
  lane.tenant = static_cast<TenantId>(tenant);
  lane.route = text;
  return lane;
}

std::string announcement(const AskedCancel& cancel) {
  std::string text(kCancel);
  text.append(jobs::name(cancel.cause)).append(" ").append(jobs::to_text(cancel.id));
  return text;
}

std::optional<AskedCancel> read_cancel(std::string_view text) {
  if (!text.starts_with(kCancel)) return std::nullopt;
  text.remove_prefix(kCancel.size());
  for (const auto cause : {jobs::Cause::cancelled_by_client, jobs::Cause::cancelled_by_operator}) {
    const std::string_view name = jobs::name(cause);
    if (!text.starts_with(name) || !text.substr(name.size()).starts_with(' ')) continue;
    const auto id = jobs::parse_job_id(text.substr(name.size() + 1));
    if (id) return AskedCancel{*id, cause};
  }
  return std::nullopt;
}

}  // namespace spillway::store
