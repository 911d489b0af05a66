#include "jobs/order.hpp"

#include <algorithm>
#include <string>

#include "base/sha256.hpp"

namespace spillway::jobs {

Digest order_of(std::string_view value) {
  const Sha256 whole = sha256(value);
  Digest digest;
  std::copy_n(whole.begin(), digest.size(), digest.begin());
  return digest;
}

// No value contains a line end, with which this text begins. Each part follows its length.
Digest order_of(std::string_view route, std::string_view tenant, std::string_view value) {
  std::string text;
  for (const std::string_view part : {route, tenant, value})
    text.append("\n").append(std::to_string(part.size())).append(":").append(part);
  return order_of(text);
}

}  // namespace spillway::jobs
