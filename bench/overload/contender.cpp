#include "bench/overload/contender.hpp"

#include <algorithm>
#include <array>

namespace spillway::bench {
namespace {

constexpr std::array<Contender, 13> kContenders{{
    {"direct", Program::none, "", false},
    {"nginx", Program::nginx, "overload-nginx-default.conf", false},
    {"nginx-limit", Program::nginx, "overload-nginx-limit.conf"},
    {"nginx-tuned", Program::nginx, "overload-nginx-tuned.conf"},
    {"nginx-tenants", Program::nginx, "overload-nginx-tenants.conf"},
    {"nginx-cache", Program::nginx, "overload-nginx-cache.conf"},
    {"haproxy", Program::haproxy, "overload-haproxy-default.cfg", false},
    {"haproxy-tuned", Program::haproxy, "overload-haproxy-tuned.cfg"},
    {"haproxy-tenants", Program::haproxy, "overload-haproxy-tenants.cfg"},
    {"spillway", Program::spillway, "overload-spillway.json"},
    {"spillway-auto", Program::spillway, "overload-spillway-auto.json"},
    {"spillway-denying", Program::spillway, "overload-spillway-denying.json"},
    {"spillway-degrading", Program::spillway, "overload-spillway-degrading.json"},
}};

}  // namespace

const Contender* find_contender(std::string_view name) {
  const auto found = std::find_if(kContenders.begin(), kContenders.end(),
                                  [&](const Contender& one) { return one.name == name; });
  return found == kContenders.end() ? nullptr : &*found;
}

std::vector<std::string> command_of(const Contender& contender, const ProgramPaths& paths,
                                    const std::string& file, const std::string& folder) {
  switch (contender.program) {
    case Program::none: break;
    case Program::nginx: return {paths.nginx, "-p", folder, "-c", file};
    case Program::haproxy: return {paths.haproxy, "-db", "-f", file};
    case Program::spillway: return {paths.spillway, "run", "--config", file};
  }
  return {};
}

}  // namespace spillway::bench
