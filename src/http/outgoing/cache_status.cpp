#include "http/outgoing/cache_status.hpp"

#include <array>

#include "base/ids.hpp"

namespace spillway::http {

void write_cache_status(TextWriter& out, const CacheStatus& status) {
  constexpr std::array<std::string_view, 7> forwards{"",          "bypass", "method", "uri-miss",
                                                     "vary-miss", "stale",  "request"};
  if (!status.has_cache) return;
  out << "Cache-Status: spillway";
  if (status.hit) out << "; hit";
  if (status.forward != CacheStatus::Forward::none)
    out << "; fwd=" << forwards[index(status.forward)];
  if (status.forward_status != 0) out << "; fwd-status=" << status.forward_status;
  if (status.ttl) out << "; ttl=" << *status.ttl;
  if (status.stored) out << "; stored";
  if (status.collapsed) out << "; collapsed";
  if (!status.detail.empty()) out << "; detail=" << status.detail;
  out << "\r\n";
}

}  // namespace spillway::http
