// The far ends of the socket pairs. They read all bytes available and write as much as fits.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace spillway::fuzz {

enum class Got : std::uint8_t { something, nothing, end };

inline Got receive(int descriptor, std::string& into) {
  char block[16 * 1024];
  const ssize_t got = ::recv(descriptor, block, sizeof block, 0);
  if (got > 0) into.append(block, static_cast<std::size_t>(got));
  if (got > 0) return Got::something;
  return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Got::nothing : Got::end;
}

// Bytes taken; nothing more can be sent over a connection that is broken.
inline std::size_t send(int descriptor, std::string_view bytes) {
  const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

}  // namespace spillway::fuzz
