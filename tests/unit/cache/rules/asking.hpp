// Requests and their answers, for the store to look up and keep.
#pragma once

#include <boost/beast/http/field.hpp>
#include <deque>
#include <string>
#include <string_view>

#include "cache/store/response_cache.hpp"
#include "unit/cache/rules/messages.hpp"

namespace spillway::cache {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline const TimePoint kStart = TimePoint{} + std::chrono::hours(1);
inline constexpr SipKey kSipKey{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};

// Fields with memory of their own.
class Fields {
 public:
  Fields() = default;
  Fields(const Lines& lines) {
    for (const auto& [name, value] : lines) add(name, value);
  }
  Fields(const Fields&) = delete;

  void add(std::string_view name, std::string_view value) {
    const std::string& its_name = texts_.emplace_back(name);
    const std::string& its_value = texts_.emplace_back(value);
    list.push({its_name, its_value, boost::beast::http::string_to_field(its_name)});
  }

  http::FieldList list;

 private:
  std::deque<std::string> texts_;
};

struct Request {
  explicit Request(std::string_view its_path, const Lines& lines = {})
      : path(its_path), fields(lines) {}

  CacheRequest asked() const {
    return {.scheme = scheme,
            .authority = authority,
            .is_forwarding_trusted = is_forwarding_trusted,
            .path_and_query = path,
            .tenant = tenant,
            .tenant_in_key = {.by_api_key = !tenant.empty()},
            .fields = fields.list};
  }

  std::string path;
  Fields fields;
  std::string scheme = "http";
  std::string authority = "shop.example";
  std::string tenant{};  // told by X-Api-Key
  bool is_forwarding_trusted = false;
};

struct Response {
  explicit Response(std::string_view its_content, const Lines& lines = {})
      : content(its_content), fields(lines) {
    head.status = 200;
    head.reason_phrase = "OK";
  }

  std::string content;
  Fields fields;
  http::ResponseHead head;
  bool open = false;
  Validity validity{.lifetime = seconds(60), .stale_for = seconds(60)};
};

// Stores the answer to a request that was sent at that time and answered at once.
inline StoredPtr store(ResponseCache& cache, const Request& request, Response& response,
                       TimePoint now = kStart) {
  CacheKey key;
  cache.find(request.asked(), key, now);
  response.head.fields = response.fields.list;
  auto filling = cache.begin(key, request.asked(), response.head, response.validity, response.open,
                             now, now, {}, response.content.size());
  if (!filling || !filling->append(response.content)) return {};
  return filling->commit(now);
}
inline StoredPtr store(ResponseCache& cache, const Request& request, Response&& response,
                       TimePoint now = kStart) {
  return store(cache, request, response, now);
}

inline Found look(ResponseCache& cache, const Request& request, TimePoint now = kStart) {
  CacheKey key;
  return cache.find(request.asked(), key, now);
}
// The content that is found, or "-".
inline std::string content(ResponseCache& cache, const Request& request, TimePoint now = kStart) {
  const Found found = look(cache, request, now);
  return found.response ? std::string(found.response->content()) : "-";
}

}  // namespace spillway::cache
