#include "bench/hostile/traffic.hpp"

// linux/tcp.h has the whole of tcp_info, and cannot be included beside netinet/tcp.h.
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace spillway::hostile {
namespace {

constexpr std::uint32_t kEstablishedOrClosing = 0xffffffff & ~(1U << 6 | 1U << 7 | 1U << 10);
constexpr std::uint32_t kLoopback = 0x7f000001;

// tcpi_bytes_acked counts the SYN too, tcpi_bytes_sent what was sent again.
std::uint64_t payload(const tcp_info& info) {
  return info.tcpi_bytes_sent + info.tcpi_bytes_received;
}

class DiagnosticSocket {
 public:
  DiagnosticSocket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {}
  ~DiagnosticSocket() {
    if (fd_ >= 0) close(fd_);
  }
  DiagnosticSocket(const DiagnosticSocket&) = delete;
  DiagnosticSocket& operator=(const DiagnosticSocket&) = delete;

  bool ask() const {
    struct {
      nlmsghdr header{};
      inet_diag_req_v2 request{};
    } message;
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.request.sdiag_family = AF_INET;
    message.request.sdiag_protocol = IPPROTO_TCP;
    message.request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
    message.request.idiag_states = kEstablishedOrClosing;
    return send(fd_, &message, sizeof message, 0) == sizeof message;
  }

  std::size_t receive(void* into, std::size_t size) const {
    const auto got = recv(fd_, into, size, 0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

 private:
  int fd_;
};

// The INET_DIAG_INFO attribute of one answer.
tcp_info info_of(const nlmsghdr* message) {
  tcp_info info{};
  const auto* const entry = static_cast<const inet_diag_msg*>(NLMSG_DATA(message));
  int left = static_cast<int>(message->nlmsg_len - NLMSG_LENGTH(sizeof *entry));
  for (const auto* each = reinterpret_cast<const rtattr*>(entry + 1); RTA_OK(each, left);
       each = RTA_NEXT(each, left)) {
    if (each->rta_type != INET_DIAG_INFO) continue;
    std::memcpy(&info, RTA_DATA(each), std::min<std::size_t>(sizeof info, RTA_PAYLOAD(each)));
  }
  return info;
}

}  // namespace

std::optional<std::uint64_t> bytes_of(int descriptor) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return payload(info);
}

std::map<std::uint64_t, std::uint64_t> connections_to(std::uint16_t port) {
  std::map<std::uint64_t, std::uint64_t> found;
  const DiagnosticSocket diagnostics;
  if (!diagnostics.ask()) return found;
  alignas(nlmsghdr) std::array<char, 65536> buffer{};
  for (;;) {
    std::size_t left = diagnostics.receive(buffer.data(), buffer.size());
    if (left == 0) return found;
    for (auto* each = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(each, left);
         each = NLMSG_NEXT(each, left)) {
      if (each->nlmsg_type == NLMSG_DONE || each->nlmsg_type == NLMSG_ERROR) return found;
      const auto* const entry = static_cast<const inet_diag_msg*>(NLMSG_DATA(each));
      const auto& id = entry->id;
      if (ntohs(id.idiag_dport) != port || ntohl(id.idiag_src[0]) != kLoopback) continue;
      const std::uint64_t number =
          static_cast<std::uint64_t>(id.idiag_cookie[1]) << 32 | id.idiag_cookie[0];
      found[number] = payload(info_of(each));
    }
  }
}

}  // namespace spillway::hostile
