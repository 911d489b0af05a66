#include "bench/crowd/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/load/percentile.hpp"

namespace spillway::crowd {
namespace {

struct Stayed {
  std::size_t all = 0;
  std::size_t came_in = 0;
  std::size_t late = 0;
};

Stayed stayed_of(std::span<const Record> records) {
  Stayed stayed;
  for (const Record& record : records) {
    if (!stays(record.manner) || record.fate == Fate::refused) continue;
    ++stayed.all;
    if (record.was_inside) ++stayed.came_in;
    if (record.was_late) ++stayed.late;
  }
  return stayed;
}

std::vector<Duration> waits_of(std::span<const Record> records) {
  std::vector<Duration> waits;
  for (const Record& record : records) {
    if (record.was_inside && record.joined && record.called)
      waits.push_back(record.called->to - record.arrived->from);
  }
  return waits;
}

// From the call to the response of the site; no shorter than they were.
std::vector<Duration> entries_of(std::span<const Record> records) {
  std::vector<Duration> entries;
  for (const Record& record : records) {
    if (record.called && record.entered)
      entries.push_back(record.entered->to - record.called->from);
  }
  return entries;
}

}  // namespace

Heads heads_of(std::span<const Record> records) {
  Heads heads;
  for (const Record& record : records) {
    switch (record.fate) {
      case Fate::coming:
      case Fate::left: break;
      case Fate::waiting: ++heads.waiting; break;
      case Fate::inside: ++heads.inside; break;
      case Fate::gone: ++heads.gone; break;
      case Fate::refused: ++heads.refused; break;
      case Fate::failed: ++heads.failed; break;
    }
  }
  return heads;
}

std::vector<std::string> complaints(const Findings& found) {
  std::vector<std::string> list;
  const Stayed stayed = stayed_of(found.records);
  if (stayed.came_in < stayed.all)
    list.push_back(fmt::format("{} of {} who stayed did not come in", stayed.all - stayed.came_in,
                               stayed.all));
  const Order order = order_of(found.records);
  if (order.overtakes > 0)
    list.push_back(fmt::format("{} times somebody was called before one who had come earlier",
                               order.overtakes));
  if (order.compared == 0) list.push_back("nobody waited: there was no order to look at");
  if (!found.most_sessions) list.push_back("the proxy did not say how many sessions there are");
  if (found.most_sessions.value_or(0) > found.active_sessions)
    list.push_back(fmt::format("the proxy had {} sessions, {} are allowed", *found.most_sessions,
                               found.active_sessions));
  if (!found.of_site) {
    list.push_back("the site did not say what it saw");
  } else {
    if (found.of_site->most_at_once > found.active_sessions)
      list.push_back(fmt::format("the site saw {} visitors at a time, {} are allowed",
                                 found.of_site->most_at_once, found.active_sessions));
    if (found.of_site->without_pass > 0)
      list.push_back(fmt::format("the site got {} requests of nobody who was let in",
                                 found.of_site->without_pass));
  }
  for (const Record& record : found.records) {
    if (record.fate == Fate::failed) list.push_back("somebody was not served: " + record.failure);
  }
  return list;
}

std::string summary(const Findings& found) {
  const Stayed stayed = stayed_of(found.records);
  const Heads heads = heads_of(found.records);
  const Order order = order_of(found.records);
  const std::vector<Duration> waits = waits_of(found.records);
  const std::vector<Duration> entries = entries_of(found.records);
  std::string text = fmt::format(
      "{} came; {} stayed until their turn; {} were told at the door that the line is too long; {} "
      "went away\n",
      found.records.size(), stayed.all, heads.refused, heads.gone);
  text += fmt::format(
      "came in: {} of {} who stayed; those who waited: {:.0f} s (median), {:.0f} s (most)\n",
      stayed.came_in, stayed.all, to_seconds(load::percentile(waits, 0.5)),
      to_seconds(load::percentile(waits, 1)));
  text += fmt::format("from the call to the site, by polls: {:.1f} s (median), {:.1f} s (95 %)\n",
                      to_seconds(load::percentile(entries, 0.5)),
                      to_seconds(load::percentile(entries, 0.95)));
  text += fmt::format(
      "order: {} pairs of visitors compared, {} called out of order ({} asked late and may have "
      "been passed)\n",
      order.compared, order.overtakes, stayed.late);
  const demo::SaleReport site = found.of_site.value_or(demo::SaleReport{});
  text += fmt::format(
      "sessions, at most {}: {} by the proxy, {} by the site, which answered {} requests of {} "
      "visitors, {} of nobody who was let in\n",
      found.active_sessions, found.most_sessions.value_or(0), site.most_at_once, site.answered,
      site.visitors, site.without_pass);
  return text;
}

}  // namespace spillway::crowd
