#include "live_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "figures.hpp"

namespace spillway::demo {
namespace {

constexpr std::string_view kCellHeading = "req/s ok% dgr% den% fail   p50/p95 ";
constexpr int kLead = 14;

std::string cell(const Counts& counts, Duration span, const Paint& paint) {
  const double ok = per_cent(counts.ok, counts);
  std::string ok_text = fmt::format("{:3.0f}", ok);
  if (counts.ended() > 0)
    ok_text = ok >= 99 ? paint.good(ok_text) : ok >= 50 ? ok_text : paint.mild(ok_text);
  std::string failed = fmt::format("{:4}", counts.failed);
  if (counts.failed > 0) failed = paint.bad(failed);
  const std::string times =
      counts.ok == 0 ? "-" : fmt::format("{}/{}", latency(counts, 0.5), latency(counts, 0.95));
  return fmt::format("{:5.0f} {} {:4.0f} {:4.0f} {} {:>9} ",
                     static_cast<double>(counts.offered) / to_seconds(span), ok_text,
                     per_cent(counts.degraded, counts), per_cent(counts.denied, counts), failed,
                     times);
}

std::string proxy_cell(const ProxyView& proxy, const Paint& paint) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : std::string("?");
  };
  std::string state = fmt::format("{:<10}", proxy.state);
  state = proxy.state == "NORMAL" ? paint.good(std::move(state)) : paint.mild(std::move(state));
  return fmt::format("| {} {:>3} {:>4}{}{}", state, number(proxy.inflight), number(proxy.queued),
                     proxy.reason.empty() ? "" : " ", proxy.reason);
}

}  // namespace

std::string Paint::wrapped(std::string_view code, std::string text) const {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

std::string heading(const Paint& paint) {
  std::string titles(kLead, ' ');
  std::string columns = fmt::format("{:<{}}", "   t phase", kLead);
  for (const load::Kind& kind : load::kKinds) {
    const std::string title = fmt::format("{} {} {}", kind.traffic_class, kind.method, kind.path);
    titles += fmt::format("| {:<{}}", title, kCellHeading.size());
    columns += fmt::format("| {}", kCellHeading);
  }
  titles += "| proxy";
  columns += "| state      run wait reason";
  return paint.strong(titles) + '\n' + paint.strong(columns);
}

std::string row(Duration at, std::string_view phase, const CountsByKind& counts, Duration span,
                const std::optional<ProxyView>& proxy, const Paint& paint) {
  std::string line = fmt::format("{:3.0f}s {:<{}}", std::ceil(to_seconds(at)), phase, kLead - 5);
  for (const Counts& kind : counts) line += "| " + cell(kind, span, paint);
  return line + (proxy ? proxy_cell(*proxy, paint) : "|");
}

}  // namespace spillway::demo
