#include "cli/simulate/simulate_command.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <system_error>
#include <vector>

#include "simulate/model/deferral_rules.hpp"
#include "simulate/model/visitors_model.hpp"
#include "simulate/report/json.hpp"
#include "simulate/report/plot.hpp"
#include "simulate/report/table.hpp"
#include "simulate/run/access_log.hpp"
#include "simulate/run/simulation.hpp"
#include "simulate/scenario/built_in.hpp"
#include "simulate/scenario/scenario_file.hpp"

namespace spillway {
namespace {

using simulate::Recording;

void list_scenarios(std::ostream& out) {
  std::size_t width = 0;
  for (const auto& one : simulate::built_in_scenarios()) width = std::max(width, one.name.size());
  for (const auto& one : simulate::built_in_scenarios()) {
    const auto result = simulate::read_scenario(one.json, one.name, nullptr);
    out << one.name << std::string(width + 2 - one.name.size(), ' ')
        << (result.scenario ? result.scenario->sentence : "") << '\n';
  }
}

// A progress line that is overwritten at each per cent.
simulate::Progress progress_to(std::ostream& err, std::uint32_t seconds, const char* what) {
  return [&err, seconds, what, shown = std::uint64_t{0}](std::uint32_t over) mutable {
    const std::uint64_t percent = std::uint64_t{100} * over / seconds;
    if (percent == shown) return;
    shown = percent;
    err << "\r\x1b[K";
    if (over < seconds) err << "simulating " << what << ": " << over << " of " << seconds << " s";
    err << std::flush;
  };
}

simulate::Told told(const SimulateOptions& options) {
  simulate::Told told{options.slots, std::nullopt, options.rps};
  if (options.service_ms) told.service = Milliseconds{*options.service_ms};
  return told;
}

void print_size(const Recording& recording, const std::string& sizing, std::ostream& out) {
  out << recording.scenario << ": " << simulate::about(recording.size) << '\n';
  if (!sizing.empty()) out << "(" << sizing << ")\n";
  out << '\n';
}

void print_table(const Recording& with, const Recording* without, std::ostream& out) {
  std::vector<std::string> classes;
  for (const auto& one : with.classes) classes.push_back(one.name);
  const bool jobs = with.jobs.has_value();
  out << (without != nullptr ? simulate::compare_header(classes, jobs)
                             : simulate::header(classes, jobs));
  for (std::size_t s = 0; s < with.seconds.size(); ++s) {
    out << (without != nullptr
                ? simulate::compare_line(s, with.seconds[s], without->seconds[s], jobs)
                : simulate::line(s, with.seconds[s], jobs));
  }
}

nlohmann::ordered_json as_json(const Recording& with, const Recording* without) {
  if (without == nullptr) return to_json(with);
  if (with.visitors && with.visitors->has_room)
    return {{"with_waiting_room", to_json(with)}, {"without_waiting_room", to_json(*without)}};
  if (without->shedding)
    return {{"with_deferral", to_json(with)}, {"without_deferral", to_json(*without)}};
  return {{"with_shedding", to_json(with)}, {"without_shedding", to_json(*without)}};
}

// Opening such a pipe would block. Sets errno.
bool is_pipe_without_reader(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0) ::close(descriptor);
  return descriptor < 0 && errno == ENXIO;
}

// Opened before the run, so that a path that cannot be written to fails at once.
std::ofstream open_plot(const std::string& path, std::ostream& err) {
  errno = 0;
  std::ofstream file;
  if (is_pipe_without_reader(path)) {
    file.setstate(std::ios::failbit);
  } else {
    file.open(path, std::ios::binary | std::ios::app);
  }
  if (!file) {
    err << "error: " << path << ": cannot write: " << std::generic_category().message(errno)
        << '\n';
  }
  return file;
}

bool write_plot(const std::string& path, const std::string& svg, std::ostream& err) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << svg;
  file.close();
  if (!file) err << "error: " << path << ": could not be written to its end\n";
  return !file.fail();
}

}  // namespace

const char* const kSizeHelp =
    "How large the model is. A built-in scenario is a shape. With --config the backend gets as\n"
    "many slots as the file's concurrency names, times slots / concurrency of the scenario\n"
    "(mostly 1), and the rates follow, so that the ratio of load to capacity stays. \"auto\" "
    "names\n"
    "no size: the scenario keeps its own. The file says nothing about time: the service time "
    "stays\n"
    "the scenario's. --slots, --service-ms and --rps go before that; without --rps the rates\n"
    "follow the capacity. A scenario file of your own is played as it is written. With --from-log\n"
    "slots and service time are the told ones, or the file's concurrency and what the log shows.\n"
    "What file and model contradict is warned of on standard error.";

namespace {

// Opens the scenario to run; reports its problems on `err`.
simulate::ScenarioResult open(const SimulateOptions& options, const config::Config* config,
                              std::ostream& err) {
  simulate::ScenarioResult opened =
      options.log.empty() ? simulate::open_scenario(options.scenario, config, told(options))
                          : simulate::open_access_log(options.log, *config, told(options));
  for (const auto& warning : opened.warnings) {
    err << "warning: " << warning.path << ": " << warning.message << '\n';
  }
  for (const auto& problem : opened.problems) {
    err << "error: " << problem.path << ": " << problem.message << '\n';
  }
  if (!opened.scenario) {
    err << (options.log.empty() ? options.scenario : options.log) << ": " << opened.problems.size()
        << " error(s)\n";
  }
  return opened;
}

struct Runs {
  Recording with;
  std::optional<Recording> without;  // the waiting room, deferral or shedding, to compare
};

Runs play(const simulate::Scenario& scenario, bool compare, std::ostream& err, bool show_progress) {
  const auto run = [&](const simulate::Scenario& played, bool shedding, const char* what) {
    if (!show_progress) return simulate::simulate(played, shedding);
    return simulate::simulate(played, shedding, progress_to(err, played.seconds, what));
  };
  const bool defers = simulate::has_deferral(scenario);
  const bool has_room = simulate::has_waiting_room(scenario);
  const char* const what = has_room ? "with the waiting room"
                           : defers ? "with deferral"
                                    : "with shedding";
  Runs runs{run(scenario, true, what), {}};
  if (compare && has_room) {
    runs.without = run(simulate::without_waiting_rooms(scenario), true, "without the waiting room");
  } else if (compare && defers) {
    runs.without = run(simulate::without_deferral(scenario), true, "without deferral");
  } else if (compare) {
    runs.without = run(scenario, false, "without shedding");
  }
  return runs;
}

}  // namespace

SimulateResult simulate_scenario(const SimulateOptions& options, const config::Config* config,
                                 std::ostream& out, std::ostream& err, bool show_progress) {
  if (options.list) {
    list_scenarios(out);
    return SimulateResult::done;
  }
  if (options.reference) {
    out << simulate::scenario_reference();
    return SimulateResult::done;
  }
  if (!options.log.empty() && config == nullptr) {
    err << "error: --config: missing: a log is played with the configuration that wrote it\n";
    return SimulateResult::bad_scenario;
  }
  simulate::ScenarioResult opened = open(options, config, err);
  if (!opened.scenario) return SimulateResult::bad_scenario;
  simulate::Scenario& scenario = *opened.scenario;
  scenario.seed = options.seed.value_or(scenario.seed);
  if (!options.plot.empty() && !open_plot(options.plot, err)) return SimulateResult::plot_failed;

  const auto [with, without] = play(scenario, options.compare, err, show_progress);
  const Recording* const other = without ? &*without : nullptr;

  if (options.json) {
    out << as_json(with, other).dump(2) << '\n';
  } else {
    print_size(with, opened.sizing, out);
    print_table(with, other, out);
    out << '\n' << simulate::summary(with, other);
  }
  if (options.plot.empty()) return SimulateResult::done;
  return write_plot(options.plot, simulate::plot(with, other), err) ? SimulateResult::done
                                                                    : SimulateResult::plot_failed;
}

}  // namespace spillway
