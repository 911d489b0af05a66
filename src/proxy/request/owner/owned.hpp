// An object, besides idle connections, that a worker owns from Owner::begin() until it ends itself.
#pragma once

#include <cstdint>

namespace spillway::proxy {

enum class OwnedKind : std::uint8_t {
  session,
  refresh,
  job,
  abandoned_call,
  visitor_stream,
  tunnel,
};

class Owned {
 public:
  virtual OwnedKind kind() const = 0;

 protected:
  ~Owned() = default;
};

}  // namespace spillway::proxy
