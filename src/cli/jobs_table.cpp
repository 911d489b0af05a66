#include "cli/jobs_table.hpp"

#include <array>
#include <iomanip>
#include <ostream>
#include <string>
#include <string_view>

namespace spillway {

namespace {

using nlohmann::json;

// C0, DEL and C1 (in UTF-8: c2 80 to c2 9f) become question marks; lines may stay apart.
std::string plain(std::string_view text, bool has_lines = false) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    const auto next = static_cast<unsigned char>(at + 1 < text.size() ? text[at + 1] : 0);
    if (c == '\r' && has_lines && next == '\n') continue;
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += '?';
      ++at;
    } else if ((c == '\n' || c == '\t') && has_lines) {
      out += text[at];
    } else {
      out += c < 0x20 || c == 0x7f ? '?' : text[at];
    }
  }
  return out;
}

// A member as text; empty if it is not there.
std::string member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? plain(found->get_ref<const std::string&>()) : found->dump();
}

// "2026-11-23T20:00:00.000Z" without its milliseconds.
std::string seconds_of(const std::string& time) {
  return time.size() == 24 ? time.substr(0, 19) + "Z" : time;
}

void print_row(std::ostream& out, const std::array<std::string, 7>& cells) {
  static constexpr std::array<int, 7> kWidths{32, 9, 20, 8, 21, 16, 0};
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (n > 0) out << "  ";
    out << std::left << std::setw(kWidths[n]) << cells[n];
  }
  out << '\n';
}

void print_member(std::ostream& out, const json& job, const char* name) {
  const std::string text = member(job, name);
  if (!text.empty()) out << std::left << std::setw(12) << name << "  " << text << '\n';
}

void print_attempt(std::ostream& out, const json& attempt) {
  const std::string number = member(attempt, "number");
  out << "  " << std::left << std::setw(4) << (number == "0" ? "-" : number) << "  "
      << member(attempt, "began_at") << "  " << std::setw(14) << member(attempt, "cause") << "  "
      << std::setw(3) << member(attempt, "status");
  const std::string detail = member(attempt, "detail");
  if (!detail.empty()) out << "  " << detail;
  out << '\n';
}

}  // namespace

void print_jobs_heading(std::ostream& out) {
  print_row(out, {"ID", "STATE", "ACCEPTED", "ATTEMPTS", "CAUSE", "ROUTE", "REQUEST"});
}

void print_job_row(std::ostream& out, const json& job) {
  print_row(out, {member(job, "id"), member(job, "state"), seconds_of(member(job, "accepted_at")),
                  member(job, "attempts"), member(job, "cause"), member(job, "route"),
                  member(job, "method") + " " + member(job, "target")});
}

void print_inspected_job(std::ostream& out, const json& job) {
  for (const char* name :
       {"id", "state", "cause", "status", "route", "tenant", "attempts", "recoveries",
        "accepted_at", "due_at", "position", "ended_at", "expires_at", "body_bytes"}) {
    print_member(out, job, name);
  }
  out << "\nhead\n" << plain(job.value("head", std::string()), true);
  const json body = job.value("body", json::object());
  const std::string text = body.value("text", std::string());
  if (!text.empty()) {
    out << "body" << (body.value("encoding", "") == "base64" ? " (base64)" : "")
        << (body.value("is_cut", false) ? ", its first bytes" : "") << '\n'
        << plain(text, true) << '\n';
  }
  out << "\nattempts\n";
  const json history = job.value("history", json::array());
  if (history.empty()) out << "  none\n";
  for (const json& attempt : history) print_attempt(out, attempt);
}

}  // namespace spillway
