#include "proxy/net/random_bytes.hpp"

#include <sys/random.h>

#include <cerrno>

namespace spillway::proxy {

bool fill_randomly(std::span<std::uint8_t> bytes) {
  ssize_t got = 0;
  do {
    got = ::getrandom(bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(bytes.size());
}

}  // namespace spillway::proxy
