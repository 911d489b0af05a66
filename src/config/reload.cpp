#include "config/reload.hpp"

#include <string>

namespace spillway::config {
namespace {

std::string shown(const std::string& text) { return "\"" + text + "\""; }
std::string shown(std::uint64_t number) { return std::to_string(number); }

}  // namespace

Problems needs_restart(const Config& running, const Config& wanted) {
  Problems problems;
  const auto compare = [&problems](const char* path, const auto& now, const auto& next) {
    if (now == next) return;
    problems.push_back(
        {path, "found " + shown(next) + ", running with " + shown(now) + ": this takes a restart"});
  };
  compare("$.listen.address", running.listen.address, wanted.listen.address);
  compare("$.listen.port", running.listen.port, wanted.listen.port);
  compare("$.admin.address", running.admin.address, wanted.admin.address);
  compare("$.admin.port", running.admin.port, wanted.admin.port);
  if (running.admin.token != wanted.admin.token)
    problems.push_back({"$.admin.token", "is another one: this takes a restart"});
  compare("$.workers", running.workers, wanted.workers);
  compare("$.limits.header_bytes", running.limits.header_bytes, wanted.limits.header_bytes);
  return problems;
}

}  // namespace spillway::config
