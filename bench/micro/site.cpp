#include "site.hpp"

#include <array>
#include <stdexcept>

#include "config/defaults.hpp"
#include "http/message/framing.hpp"

namespace spillway::micro {
namespace {

constexpr std::size_t kRequests = 1024;
constexpr std::size_t kApiKeys = 1000;

std::string api_key(std::size_t i) { return "0123456789abcdef-" + std::to_string(i); }

// Field lines.
std::string credentials(Caller caller, Random& random) {
  switch (caller) {
    case Caller::unnamed: break;
    case Caller::with_api_key: return "X-Api-Key: " + api_key(random.next() % kApiKeys) + "\r\n";
    case Caller::behind_proxy:
      return "X-Forwarded-For: 198.51.100." + std::to_string(random.next() % 256) + "\r\n";
  }
  return {};
}

std::string folder(std::size_t route) {
  return "/area-" + std::to_string(route % 97) + "/resource-" + std::to_string(route);
}

std::string pattern(std::size_t route) {
  constexpr std::array<const char*, 5> endings{"/**", "/*/items", "/list", "/v2/**", "/*"};
  return folder(route) + endings[route % endings.size()];
}

std::string path(std::size_t route) {
  constexpr std::array<const char*, 5> endings{"/a/b.html?page=2", "/1234/items?page=2",
                                               "/list?page=2", "/v2/status?page=2", "/1234"};
  return folder(route) + endings[route % endings.size()];
}

std::unique_ptr<Request> request(std::size_t route, const std::string& more_fields) {
  auto made = std::make_unique<Request>();
  made->text = "GET " + path(route) +
               " HTTP/1.1\r\n"
               "Host: shop.example\r\n"
               "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Firefox/128.0\r\n"
               "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
               "Accept-Language: en-GB,en;q=0.5\r\n"
               "Accept-Encoding: gzip, deflate\r\n"
               "Referer: http://shop.example/\r\n"
               "Cookie: session=0123456789abcdef\r\n"
               "Connection: keep-alive\r\n"
               "Priority: u=1\r\n" +
               more_fields + "\r\n";
  if (http::parse_request(made->text, made->head) != http::Error::none ||
      http::request_framing(made->head) != http::Error::none) {
    throw std::logic_error("a request of the benchmark is malformed");
  }
  return made;
}

}  // namespace

config::Config site(std::size_t routes) {
  config::Config config = config::defaults(config::default_classes().size());
  config.classes = config::default_classes();
  config.upstreams.push_back(
      {.name = "app", .dispatch = config.dispatch, .overload = config.overload});
  config.trusted_peers = {"192.0.2.0/24"};
  for (std::size_t i = 0; i < kApiKeys; ++i)
    config.tenants.api_keys.push_back({.tenant = std::to_string(i), .key = api_key(i)});
  std::vector<config::Route> all;
  all.reserve(routes + 1);
  for (std::size_t i = 0; i < routes; ++i) {
    const ClassId id{static_cast<std::uint8_t>(i % config.classes.size())};
    config::Route route{
        .name = std::to_string(i), .match = {.path = pattern(i)}, .traffic_class = id};
    if (i % 2 == 0) route.rules = {{.traffic_class = id, .probability = 0.25}};
    all.push_back(std::move(route));
  }
  all.push_back(config.routes.back());
  config.routes = std::move(all);
  return config;
}

std::vector<std::unique_ptr<Request>> requests(std::size_t routes, Caller caller, Random& random) {
  std::vector<std::unique_ptr<Request>> made;
  made.reserve(kRequests);
  for (std::size_t i = 0; i < kRequests; ++i) {
    const std::size_t route = random.next() % routes;
    made.push_back(request(route, credentials(caller, random)));
  }
  return made;
}

}  // namespace spillway::micro
