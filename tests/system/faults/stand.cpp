#include "system/faults/stand.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "support/event.hpp"
#include "support/proxy_under_test.hpp"
#include "support/raw_client.hpp"

namespace spillway::faults {

using namespace support;
using nlohmann::json;

namespace {

constexpr Milliseconds kUntilSettled{5000};

// No request is refused for anything but the fault: all are of the first class, which waits long
// and is never shed.
json settings_of(const Stand::Settings& settings, const std::vector<std::string>& faulty,
                 const std::string& sound) {
  json changes = settings.changes;
  json other = {{"connect_timeout_ms", 5'000}, {"response_timeout_ms", 10'000}};
  json app = other;
  if (changes.contains("app")) {
    app.merge_patch(changes["app"]);
    changes.erase("app");
  }
  app["name"] = "app";
  app["servers"] = settings.servers.empty() ? faulty : settings.servers;
  other["name"] = "sound";
  other["servers"] = {sound};
  json all = {{"upstreams", {app, other}},
              {"classes", {{{"name", "P0"}, {"sla_ms", 60'000}, {"max_wait_ms", 60'000}}}},
              {"routes",
               {{{"name", "sound"},
                 {"match", {{"path", "/sound/**"}}},
                 {"class", "P0"},
                 {"upstream", "sound"}}}},
              {"default_route", {{"class", "P0"}}},
              {"overload", {{"rules", {{"P0", {{"strategy", "allow"}}}}}}},
              {"log", {{"level", "error"}}}};
  for (const std::string& path : settings.routes) {
    all["routes"].push_back({{"name", "route" + std::to_string(all["routes"].size())},
                             {"match", {{"path", path}}},
                             {"class", "P0"}});
  }
  all.merge_patch(changes);
  return all;
}

std::string number(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace

Scrape::Scrape(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.rfind(' ');
    if (line.starts_with("#") || blank == std::string::npos) continue;
    samples_.emplace_back(line.substr(0, blank), std::strtod(line.c_str() + blank, nullptr));
  }
}

double Scrape::sum(std::string_view family, std::string_view having) const {
  double sum = 0;
  for (const auto& [sample, value] : samples_) {
    const bool is_of_family = std::string_view(sample).substr(0, sample.find('{')) == family;
    if (is_of_family && sample.find(having) != std::string::npos) sum += value;
  }
  return sum;
}

bool Scrape::has(std::string_view family) const {
  for (const auto& [sample, value] : samples_) {
    if (std::string_view(sample).substr(0, sample.find('{')) == family) return true;
  }
  return false;
}

// The addresses of all that the faulty upstream has.
std::vector<std::string> Stand::start_more(const Settings& settings) {
  std::vector<std::string> servers{backend.address()};
  for (std::size_t n = 0; n < settings.more_backends; ++n) {
    servers.push_back(more.emplace_back(std::make_unique<FaultyBackend>())->address());
  }
  if (!settings.last_always.empty()) more.back()->always(settings.last_always);
  return servers;
}

Stand::Stand(const Settings& settings, Peer peer, const Wanted& wanted)
    : slots_(peer == Peer::nginx && wanted.slots > 0 ? wanted.slots + kInsteadOfQueue
                                                     : wanted.slots) {
  const std::vector<std::string> servers = start_more(settings);
  peer_ = std::make_unique<PeerProcess>(
      peer, wanted, Servers{settings.servers.empty() ? servers : settings.servers, sound.address()},
      settings.under);
}

Stand::Stand(const Settings& settings) {
  const std::vector<std::string> servers = start_more(settings);
  const json all = settings_of(settings, servers, sound.address());
  slots_ = all.value("/dispatch/concurrency"_json_pointer, std::size_t{0});
  proxy_ = std::make_unique<ProxyProcess>(all, settings.under);
  // What is opened once, for the first request, is no leak.
  RawClient(port()).ask(get("/sound/0"));
  for (const Deadline deadline(kUntilSettled); !deadline.passed();) {
    if (scrape().sum("spillway_connections", "client") == 0) break;
  }
  const auto of_upstreams = [this] {
    return static_cast<std::size_t>(scrape().sum("spillway_connections", "upstream"));
  };
  files_ = open_files() - of_upstreams();
  // An operator's connection that is on its way out is not one of its own.
  for (int again = 0; again < 4; ++again) files_ = std::min(files_, open_files() - of_upstreams());
}

Milliseconds Stand::patience() const { return is_spillway() ? kPatience : kPatienceWithPeers; }

Outcome Stand::ask(std::size_t way, Question question) const {
  question.patience = patience();
  return faults::ask(port(), way, question);
}

std::size_t Stand::requests() const {
  std::size_t all = backend.requests() + sound.requests();
  for (const auto& each : more) all += each->requests();
  return all;
}

// The connection by which we have just asked is closed by then.
std::size_t Stand::open_files() const {
  const Event never;
  never.wait(10ms);
  return proxy_->open_files();
}

Scrape Stand::scrape() const {
  return Scrape(
      RawClient(proxy_->admin_port()).ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body);
}

std::string Stand::left_over() const {
  std::string left;
  const Deadline deadline(kUntilSettled);
  do {
    left = left_over_now();
  } while (!left.empty() && !deadline.passed());
  return left;
}

std::string Stand::left_over_now() const {
  const Scrape now = scrape();
  std::string left;
  const auto is = [&](const std::string& what, double value, double wanted) {
    if (value != wanted) left += what + " " + number(value) + " (not " + number(wanted) + "); ";
  };
  is("inflight", now.sum("spillway_inflight"), 0);
  is("queued", now.sum("spillway_queue_depth"), 0);
  is("client connections", now.sum("spillway_connections", "client"), 0);
  is("tunnels", now.sum("spillway_tunnels"), 0);
  const double upstream = now.sum("spillway_connections", "upstream");
  std::size_t open = backend.open_connections() + sound.open_connections();
  for (const auto& each : more) open += each->open_connections();
  is("upstream connections", upstream, static_cast<double>(open));
  const double files = static_cast<double>(open_files()) - upstream;
  if (files > static_cast<double>(files_)) is("descriptors", files, static_cast<double>(files_));
  if (now.has("spillway_requests_accepted_total")) {
    is("ended", now.sum("spillway_requests_total"), now.sum("spillway_requests_accepted_total"));
  }
  return left;
}

}  // namespace spillway::faults
