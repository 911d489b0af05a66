// The summary of one run or a comparison of several, as text.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/recording/figures.hpp"
#include "simulate/report/states.hpp"
#include "simulate/report/table.hpp"

namespace spillway::simulate {
namespace {

constexpr std::size_t kNameWidth = 12;
constexpr std::size_t kRunWidth = 19;
constexpr std::size_t kShownChanges = 12;
constexpr std::size_t kShownTenants = 12;

using Runs = std::vector<const Recording*>;

bool has_jobs(const Runs& runs) {
  return std::ranges::any_of(runs, [](const Recording* run) { return run->jobs.has_value(); });
}

bool has_visitors(const Runs& runs) { return runs.front()->visitors.has_value(); }

// The feature that the runs of a comparison differ in.
std::string_view difference(const Runs& runs) {
  if (has_visitors(runs) && runs.front()->visitors->has_room) return "the room";
  return runs.back()->shedding && has_jobs(runs) ? "deferral" : "shedding";
}

std::string_view short_name(const Recording& run, const Runs& runs) {
  return &run == runs.front() && run.shedding ? "with" : "without";
}

std::string long_name(const Recording& run, const Runs& runs) {
  const std::string_view about = runs.size() > 1 ? difference(runs) : "shedding";
  return std::string(short_name(run, runs)) + ' ' + std::string(about);
}

std::string name_cell(std::string_view text) { return left(cut(text, kNameWidth), kNameWidth); }

std::string class_headings(const Runs& runs) {
  std::string text = name_cell("class");
  if (runs.size() > 1) text += left(' ' + std::string(difference(runs)), 10);
  for (const std::string_view heading :
       {"offered", "success", "p50", "p95", "p99", "denied", "degraded", "expired", "failed"}) {
    text += right(heading, 10);
  }
  if (has_jobs(runs)) text += right("deferred", 10);
  return text + '\n';
}

std::string class_line(const ClassSummary& each, bool has_jobs) {
  const auto count = [](std::uint64_t number) { return right(count_text(number, 9), 10); };
  return right(each.counts.offered == 0 ? "-" : share_text(each.success), 10) +
         right(latency_text(each.p50), 10) + right(latency_text(each.p95), 10) +
         right(latency_text(each.p99), 10) + count(each.counts.denied) +
         count(each.counts.degraded) + count(each.counts.expired) + count(each.counts.failed) +
         (has_jobs ? count(each.counts.deferred) : "") + '\n';
}

std::string classes(const Runs& runs) {
  const bool compare = runs.size() > 1;
  std::string text = class_headings(runs);
  for (std::size_t i = 0; i < runs.front()->classes.size(); ++i) {
    for (const Recording* run : runs) {
      if (i >= run->classes.size()) continue;
      const ClassSummary& each = run->classes[i];
      text += name_cell(run == runs.front() ? each.name : "");
      if (compare) text += left(' ' + std::string(short_name(*run, runs)), 10);
      text += right(count_text(each.counts.offered, 9), 10) + class_line(each, has_jobs(runs));
    }
  }
  return text;
}

// One line about the whole run: a label, and a figure for each run.
template <class Figure>
std::string whole_line(std::string_view label, const Runs& runs, Figure figure) {
  std::string text = left(label, kNameWidth + 4);
  for (const Recording* run : runs) text += right(figure(*run), kRunWidth);
  return text + '\n';
}

std::string whole(const Runs& runs) {
  std::string text =
      whole_line("", runs, [&](const Recording& run) { return long_name(run, runs); });
  text += whole_line("goodput", runs, [](const Recording& run) { return share_text(run.goodput); });
  text +=
      whole_line("wasted work", runs, [](const Recording& run) { return share_text(run.wasted); });
  text +=
      whole_line("p95 of served", runs, [](const Recording& run) { return latency_text(run.p95); });
  text += whole_line("max queue", runs,
                     [](const Recording& run) { return std::to_string(run.max_queued); });
  for (std::size_t state = 0; state < kStateCount; ++state) {
    const auto time = [&](const Recording& run) { return time_per_state(run)[state]; };
    if (std::ranges::none_of(runs, [&](const Recording* run) { return time(*run) > 0; })) continue;
    text += whole_line(
        "time " + std::string(name(static_cast<State>(state))), runs,
        [&](const Recording& run) { return has_states(run) ? fixed(time(run), 1) + " s" : "-"; });
  }
  text += whole_line("transitions", runs, [](const Recording& run) {
    return has_states(run) ? std::to_string(run.changes.size()) : "-";
  });
  const auto at_max = [](const Recording* run) {
    return std::ranges::count_if(run->seconds, &Second::is_limit_at_max);
  };
  if (std::ranges::any_of(runs, [&](const Recording* run) { return at_max(run) > 0; })) {
    text += whole_line("limit at max", runs, [&](const Recording& run) {
      return run.shedding ? std::to_string(at_max(&run)) + " s" : "-";
    });
  }
  if (std::ranges::any_of(runs, [](const Recording* run) { return !run->tenants.empty(); })) {
    text += whole_line("Jain index", runs, [](const Recording& run) {
      return run.tenants.empty() ? "-" : fixed(run.jain, 3);
    });
  }
  return text;
}

// For the whole run.
std::string jobs(const Runs& runs) {
  if (!has_jobs(runs)) return "";
  using Count = std::uint64_t JobsSummary::*;
  const auto line = [&](std::string_view label, Count what, bool is_shown) {
    const auto any = [&](const Recording* run) { return run->jobs && (*run->jobs).*what > 0; };
    if (!is_shown && std::ranges::none_of(runs, any)) return std::string();
    return whole_line(label, runs, [what](const Recording& run) {
      return run.jobs ? std::to_string((*run.jobs).*what) : "-";
    });
  };
  const auto seconds = [&](std::string_view label, auto value) {
    return whole_line(label, runs, [value](const Recording& run) {
      const std::optional<double> at = run.jobs ? value(*run.jobs) : std::nullopt;
      return at ? fixed(*at, 1) + " s" : "-";
    });
  };
  using At = std::optional<double>;
  std::string text = line("deferred", &JobsSummary::deferred, true);
  text += line("  done", &JobsSummary::done, true);
  text += line("  dead", &JobsSummary::dead, false);
  text += line("  expired", &JobsSummary::expired, false);
  text += line("  still pending", &JobsSummary::pending, true);
  text += line("tried again", &JobsSummary::retried, false);
  text += line("store full", &JobsSummary::not_kept, false);
  text += line("most pending", &JobsSummary::most_pending, true);
  text += seconds("  at", [](const JobsSummary& of) {
    return of.most_pending > 0 ? At(of.most_pending_at) : At();
  });
  text += seconds("backlog empty at", [](const JobsSummary& of) { return of.empty_at; });
  return text + seconds("oldest waited", [](const JobsSummary& of) {
           return of.deferred > 0 ? At(of.longest) : At();
         });
}

// For the whole run as well.
std::string visitors(const Runs& runs) {
  if (!has_visitors(runs)) return "";
  using Summary = VisitorsSummary;
  const auto line = [&](std::string_view label, auto figure) {
    return whole_line(label, runs, [&](const Recording& run) { return figure(*run.visitors); });
  };
  const auto count = [&](std::string_view label, auto figure) {
    const auto any = [&](const Recording* run) { return std::invoke(figure, *run->visitors) > 0; };
    if (std::ranges::none_of(runs, any)) return std::string();
    return line(label, [&](const Summary& of) { return std::to_string(std::invoke(figure, of)); });
  };
  const auto gone = [&](std::string_view label, std::uint64_t Departures::*why) {
    return count(label, [why](const Summary& of) { return of.left.*why; });
  };
  const auto of_waits = [&](std::string_view label, double Waits::*what) {
    return line(label, [what](const Summary& of) {
      return of.waits.count > 0 ? fixed(of.waits.*what, 1) + " s" : "-";
    });
  };
  std::string text = '\n' + count("visitors", &Summary::came);
  text += line("  saw all pages", [](const Summary& of) { return std::to_string(of.left.done); });
  text += gone("  turned away", &Departures::turned_away);
  text += gone("  gave up waiting", &Departures::gave_up_in_line);
  text += gone("  gave up inside", &Departures::gave_up_inside);
  text += gone("  lost a place", &Departures::lost_place);
  text += gone("  sent out", &Departures::sent_out);
  text += gone("  ghosts", &Departures::ghosts);
  text += count("  still waiting", &Summary::waiting);
  text += count("  still inside", &Summary::inside);
  text += of_waits("waited, p50", &Waits::p50) + of_waits("waited, p95", &Waits::p95);
  text += of_waits("longest wait", &Waits::longest);
  text += count("most waiting", &Summary::most_waiting);
  text += count("most sessions", &Summary::most_sessions);
  text += line("sessions used",
               [](const Summary& of) { return of.waits.count > 0 ? share_text(of.use) : "-"; });
  text += count("polls", &Summary::polls) + count("  most in 1 s", &Summary::most_polls);
  text += line("calls in range", [](const Summary& of) {
    return of.told > 0 ? share_text(of.within, of.told) : "-";
  });
  // The other run may have no waiting room, and thus no tiers.
  for (std::size_t n = 0; n < runs.front()->visitors->tiers.size(); ++n) {
    const std::string& name = runs.front()->visitors->tiers[n].name;
    text += line(cut("p95 of " + name, kNameWidth + 3), [n](const Summary& of) {
      const bool has_waits = n < of.tiers.size() && of.tiers[n].waits.count > 0;
      return has_waits ? fixed(of.tiers[n].waits.p95, 1) + " s" : "-";
    });
  }
  return text;
}

std::string changes(const Recording& run, const Runs& runs) {
  if (run.changes.empty()) return "";
  std::string text = "\ntransitions " + long_name(run, runs) + '\n';
  const std::size_t shown = std::min(run.changes.size(), kShownChanges);
  for (std::size_t i = 0; i < shown; ++i) {
    const StateChange& change = run.changes[i];
    text += right(fixed(change.at, 1) + " s", 10) + "  ";
    text += change.reason == Reason::none || change.to == State::normal
                ? std::string(name(change.to))
                : left(name(change.to), 10) + "  " + std::string(name(change.reason));
    text += '\n';
  }
  if (shown < run.changes.size()) {
    text += "            and " + std::to_string(run.changes.size() - shown) + " more\n";
  }
  return text;
}

std::string success_of(const Recording& run, std::string_view tenant) {
  const auto found = std::ranges::find(run.tenants, tenant, &TenantSummary::name);
  return found == run.tenants.end() ? "-" : share_text(found->served, found->offered);
}

// The dozen busiest, and the number of the others.
std::string tenants(const Runs& runs) {
  std::vector<TenantSummary> busiest = runs.front()->tenants;
  if (busiest.empty()) return "";
  std::ranges::stable_sort(busiest, std::greater{}, &TenantSummary::offered);
  std::string text = '\n' + left("tenant success", kNameWidth + 4);
  for (const Recording* run : runs) text += right(long_name(*run, runs), kRunWidth);
  text += right("offered", 10) + '\n';
  const std::size_t shown = std::min(busiest.size(), kShownTenants);
  for (std::size_t i = 0; i < shown; ++i) {
    text += left(cut(busiest[i].name, kNameWidth + 3), kNameWidth + 4);
    for (const Recording* run : runs) text += right(success_of(*run, busiest[i].name), kRunWidth);
    text += right(count_text(busiest[i].offered, 9), 10) + '\n';
  }
  if (shown < busiest.size()) {
    text += "and " + std::to_string(busiest.size() - shown) + " more\n";
  }
  return text;
}

}  // namespace

std::string summary(const Recording& with, const Recording* without) {
  Runs runs{&with};
  if (without != nullptr) runs.push_back(without);
  std::string text = with.scenario + ": " + with.sentence + '\n';
  text += std::to_string(with.seconds.size()) + " s, seed " + std::to_string(with.seed);
  if (with.warm_up > 0) text += ", figures after the first " + fixed(with.warm_up, 1) + " s";
  text += "\n\n" + classes(runs) + '\n' + whole(runs) + jobs(runs) + visitors(runs);
  for (const Recording* run : runs) text += changes(*run, runs);
  return text + tenants(runs);
}

}  // namespace spillway::simulate
