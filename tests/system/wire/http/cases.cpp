#include "system/wire/http/cases.hpp"

namespace spillway::wire {

std::vector<Case> http_cases() {
  std::vector<Case> all;
  for (const auto& some :
       {request_line_cases(), target_cases(), path_cases(), field_cases(), host_cases(),
        length_cases(), coding_cases(), chunk_cases(), limit_cases(), hop_cases(),
        forwarding_cases(), identity_cases(), interim_cases(), connection_cases(), body_cases(),
        early_cases(), response_head_cases(), response_framing_cases()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace spillway::wire
