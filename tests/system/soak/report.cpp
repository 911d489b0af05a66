#include <algorithm>
#include <iomanip>
#include <sstream>

#include "system/soak/soak.hpp"
#include "system/soak/tally.hpp"

namespace spillway::soak {

namespace {

constexpr double kMebi = 1024 * 1024;

void write_kinds(std::ostringstream& out, const Result& result) {
  out << "| requests of | ";
  for (const std::string_view end : kEndNames) out << std::setw(8) << end << " | ";
  out << "\n| ---------------- |";
  for (std::size_t n = 0; n < kEnds; ++n) out << " -------: |";
  out << '\n';
  std::vector<std::uint64_t> sums(kEnds);
  const auto row = [&](const std::string& name, const std::vector<std::uint64_t>& ends) {
    out << "| " << std::left << std::setw(16) << name << std::right << " | ";
    for (const std::uint64_t end : ends) out << std::setw(8) << end << " | ";
    out << '\n';
  };
  for (const KindResult& kind : result.kinds) {
    row(kind.name, kind.ends);
    for (std::size_t n = 0; n < kEnds; ++n) sums[n] += kind.ends[n];
  }
  row("all", sums);
}

}  // namespace

std::string report(const Result& result) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1);
  out << "# Soak, seed " << result.seed << "\n\n";
  write_kinds(out, result);
  out << "\n| | |\n| --- | --- |\n";
  out << "| balance | " << to_text(result.balance)
      << (result.is_balance_known ? "" : " (accepted is not counted)") << " |\n";
  if (!result.memory.empty()) {
    const auto half = second_half(result.memory);
    out << "| memory | " << result.memory.front().y / kMebi << " MiB first, "
        << half.front().y / kMebi << " MiB in the middle, " << result.memory.back().y / kMebi
        << " MiB last; " << slope(half) << " bytes a request over the last "
        << static_cast<std::uint64_t>(half.back().x - half.front().x)
        << " requests (allowed: " << kMostBytesPerRequest << ", or " << kMostBytes / kMebi
        << " MiB in all) |\n";
    const auto [least, most] =
        std::minmax_element(result.descriptors.begin(), result.descriptors.end(),
                            [](const Point& a, const Point& b) { return a.y < b.y; });
    out << std::setprecision(0);
    out << "| open files | " << result.quiet_descriptors_before << " before, " << least->y << " to "
        << most->y << " meanwhile, " << result.quiet_descriptors_after << " after |\n";
  }
  out << "| backends | " << result.backend_requests << " requests, " << result.faults
      << " faults, slow " << result.surges << " times, a server dead " << result.deaths
      << " times |\n";
  out << "| reloads | " << result.reloads << " right, " << result.bad_reloads << " wrong |\n";
  if (!result.has_tunnels) out << "| tunnels | upgrades are not passed on |\n";
  out << "| failures | " << result.failure_count << " |\n";
  for (const std::string& failure : result.failures) out << "\n* " << failure;
  out << "\n\n" << (result.is_fine() ? "Fine." : "FAILED.") << '\n';
  return out.str();
}

}  // namespace spillway::soak
