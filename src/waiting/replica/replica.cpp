#include "waiting/replica/replica.hpp"

#include <algorithm>
#include <utility>

namespace spillway::waiting {

namespace {

// The format of entries and archives; any other number is rejected.
constexpr std::uint8_t kFormat = 15;

template <class Value>
std::string written(const Value& value) {
  ArchiveWriter writer;
  writer(kFormat, value);
  return writer.take();
}

template <class Value>
bool read(std::string_view bytes, Value& value) {
  ArchiveReader reader(bytes);
  std::uint8_t format = 0;
  reader(format);
  if (format != kFormat) return false;
  reader(value);
  return reader.is_done();
}

}  // namespace

std::string to_bytes(const LogEntry& entry) { return written(entry); }

std::optional<LogEntry> read_entry(std::string_view bytes) {
  LogEntry entry;
  return read(bytes, entry) ? std::optional(std::move(entry)) : std::nullopt;
}

std::vector<Outcome> Replica::apply(const LogEntry& entry, Time time) {
  time = std::max(time, last_);
  if (last_ != Time{} && time - last_ > kSilence) room_.pardon(time);
  last_ = time;
  note_report(entry, time);
  std::vector<Outcome> outcomes;
  outcomes.reserve(entry.commands.size());
  for (const Command& command : entry.commands) {
    if (const auto* const news = std::get_if<News>(&command); news && news->terms)
      terms_ = news->terms;
    outcomes.push_back(perform(room_, command, time));
  }
  if (time - ticked_ >= kTick) {
    ticked_ = time;
    room_.tick(time, backend());
  }
  return outcomes;
}

void Replica::note_report(const LogEntry& entry, Time time) {
  std::erase_if(reports_, [&](const Report& each) {
    return each.proxy == entry.proxy || time - each.at > kAlive;
  });
  reports_.push_back({entry.proxy, time, entry.backend.is_overloaded, entry.backend.pace});
}

std::size_t Replica::proxies() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      reports_, [this](const Report& each) { return last_ - each.at <= kAlive; }));
}

Backend Replica::backend() const {
  std::size_t all = 0;
  std::size_t overloaded = 0;
  double pace = 0;
  for (const Report& each : reports_) {
    if (last_ - each.at > kAlive) continue;
    ++all;
    overloaded += each.is_overloaded ? 1 : 0;
    pace += each.is_overloaded ? 0 : each.pace;
  }
  if (all == 0) return {};
  return {.is_overloaded = 2 * overloaded > all, .pace = pace / static_cast<double>(all)};
}

std::string Replica::archive() const { return written(*this); }

bool Replica::restore(std::string_view bytes) {
  Replica read_back;
  const bool is_good = read(bytes, read_back);
  if (is_good) *this = std::move(read_back);
  return is_good;
}

}  // namespace spillway::waiting
