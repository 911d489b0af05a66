#include "jobs/job_id.hpp"

namespace spillway::jobs {
namespace {

constexpr std::string_view kIdDigits = "0123456789abcdef";

}  // namespace

std::string to_text(const JobId& id) {
  std::string text;
  text.reserve(2 * id.bytes.size());
  for (const std::uint8_t byte : id.bytes) {
    text.push_back(kIdDigits[byte >> 4]);
    text.push_back(kIdDigits[byte & 0x0f]);
  }
  return text;
}

std::optional<JobId> parse_job_id(std::string_view text) {
  JobId id;
  if (text.size() != 2 * id.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = kIdDigits.find(text[i]);
    if (digit == std::string_view::npos) return std::nullopt;
    id.bytes[i / 2] = static_cast<std::uint8_t>(id.bytes[i / 2] << 4 | digit);
  }
  return id;
}

}  // namespace spillway::jobs
