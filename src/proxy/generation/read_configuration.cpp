#include "proxy/generation/read_configuration.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "base/ip_address.hpp"
#include "config/check/own_address.hpp"

namespace spillway::proxy {

namespace {

bool is_of_listener(const config::ListenAddress& listen, const Endpoint& server) {
  namespace ip = boost::asio::ip;
  return std::ranges::any_of(server.addresses, [&](const ip::tcp::endpoint& to) {
    const ip::address address = to.address();
    const ip::address_v6 v6 =
        address.is_v6() ? address.to_v6() : ip::make_address_v6(ip::v4_mapped, address.to_v4());
    IpAddress bytes;
    std::ranges::copy(v6.to_bytes(), bytes.bytes.begin());
    return config::is_own_address(listen, bytes, to.port());
  });
}

}  // namespace

ReadConfiguration resolve_servers(config::Config config) {
  ReadConfiguration result;
  for (std::size_t u = 0; u < config.upstreams.size(); ++u) {
    const std::string path = config::element("$.upstreams", u) + ".servers";
    std::vector<Endpoint>& endpoints = result.endpoints.emplace_back();
    const std::vector<std::string>& servers = config.upstreams[u].servers;
    for (std::size_t server = 0; server < servers.size(); ++server) {
      const auto report = [&](const std::string& what) {
        result.problems.push_back({config::element(path, server),
                                   "found " + config::shown(servers[server]) + ", " + what});
      };
      try {
        endpoints.push_back(resolve(servers[server]));
        if (is_of_listener(config::address_of(config.listen), endpoints.back()))
          report("whose address is that of $.listen: requests would come back for ever");
        else if (is_of_listener(config::address_of(config.admin), endpoints.back()))
          report("whose address is that of $.admin: the admin listener would be open to clients");
      } catch (const std::runtime_error& error) {
        report(error.what());
      }
    }
  }
  if (result.problems.empty()) result.config = std::move(config);
  return result;
}

ReadConfiguration read_configuration(const config::LoadConfig& load) {
  const auto refused = [](const char* path, const char* why) {
    return ReadConfiguration{{}, {}, {{path, why}}};
  };
  if (!load) return refused("$", "there is no file to read again");
  try {
    config::LoadResult loaded = load();
    if (!loaded.config) return {{}, {}, std::move(loaded.problems)};
    return resolve_servers(std::move(*loaded.config));
  } catch (const std::exception& error) {
    return refused("$", error.what());
  }
}

}  // namespace spillway::proxy
