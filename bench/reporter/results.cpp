#include "results.hpp"

#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace spillway::report {
namespace {

using nlohmann::json;

// A line's members: required names and numbers, optional texts and figures.
class Line {
 public:
  explicit Line(const json& object) : object_(object) {}

  template <class Value>
  void required(const char* name, Value& value) const {
    value = object_.at(name).get<Value>();
  }

  template <class Value>
  void optional(const char* name, Value& value) const {
    if (const auto found = object_.find(name); found != object_.end()) found->get_to(value);
  }

  void optional(const char* name, Figure& figure) const {
    const auto found = object_.find(name);
    if (found != object_.end() && !found->is_null()) figure = found->get<double>();
  }

 private:
  const json& object_;
};

Run run_of(const Line& line) {
  Run run;
  line.optional("date", run.date);
  line.optional("commit", run.commit);
  line.optional("quick", run.quick);
  line.optional("cpu", run.cpu);
  line.optional("cores", run.cores);
  line.optional("kernel", run.kernel);
  line.optional("congestion_control", run.congestion_control);
  line.optional("load_average", run.load_average);
  line.optional("versions", run.versions);
  return run;
}

CostCell cost_cell_of(const Line& line) {
  CostCell cell;
  line.required("workload", cell.workload);
  line.required("contender", cell.contender);
  line.required("round", cell.round);
  line.optional("failure", cell.failure);
  line.optional("connections", cell.connections);
  line.optional("workers", cell.workers);
  line.optional("seconds", cell.seconds);
  line.optional("requests", cell.requests);
  line.optional("cpu_us", cell.cpu_us);
  line.optional("user_us", cell.user_us);
  line.optional("system_us", cell.system_us);
  line.optional("rps", cell.rps);
  line.optional("p50_ms", cell.p50_ms);
  line.optional("p99_ms", cell.p99_ms);
  line.optional("rss_kib", cell.rss_kib);
  line.optional("idle_kib", cell.idle_kib);
  line.optional("foreign", cell.foreign);
  return cell;
}

OverloadCell overload_cell_of(const Line& line) {
  OverloadCell cell;
  line.required("scenario", cell.scenario);
  line.required("load", cell.load);
  line.required("contender", cell.contender);
  line.required("repetition", cell.repetition);
  line.optional("class", cell.cls);
  line.optional("tenant", cell.tenant);
  line.optional("failure", cell.failure);
  line.optional("capacity_rps", cell.capacity_rps);
  line.optional("offered", cell.offered);
  line.optional("sent", cell.sent);
  line.optional("succeeded", cell.succeeded);
  line.optional("p50_ms", cell.p50_ms);
  line.optional("p99_ms", cell.p99_ms);
  line.optional("denied", cell.denied);
  line.optional("denied_on_arrival_p99_ms", cell.denied_on_arrival_p99_ms);
  line.optional("evicted", cell.evicted);
  line.optional("timed_out", cell.timed_out);
  line.optional("goodput_ratio", cell.goodput_ratio);
  line.optional("wasted_ratio", cell.wasted_ratio);
  line.optional("recovery_s", cell.recovery_s);
  line.optional("recovered", cell.recovered);
  line.optional("jain", cell.jain);
  return cell;
}

}  // namespace

Results read_results(std::istream& lines) {
  Results results;
  bool has_run = false;
  std::string text;
  for (std::size_t number = 1; std::getline(lines, text); ++number) {
    if (text.empty()) continue;
    try {
      const json object = json::parse(text);
      const auto suite = object.at("suite").get<std::string>();
      const Line line(object);
      if (suite == "run") {
        if (has_run) throw std::runtime_error("another run: its figures do not compare");
        has_run = true;
        results.run = run_of(line);
      } else if (suite == "cost") {
        results.cost.push_back(cost_cell_of(line));
      } else if (suite == "overload") {
        results.overload.push_back(overload_cell_of(line));
      } else {
        throw std::runtime_error("there is no suite " + suite);
      }
    } catch (const std::exception& problem) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + problem.what());
    }
  }
  return results;
}

void check_apart(const std::vector<Results>& parts) {
  std::set<std::string> measured;
  for (const Results& part : parts) {
    std::set<std::string> its;
    if (!part.cost.empty()) its.insert("the cost");
    for (const OverloadCell& cell : part.overload) its.insert(cell.scenario);
    for (const std::string& what : its) {
      if (!measured.insert(what).second)
        throw std::runtime_error(what + " is in two parts: figures of two runs do not compare");
    }
  }
}

}  // namespace spillway::report
