#include "cli/admin/jobs_table.hpp"

#include <array>
#include <iomanip>
#include <ostream>
#include <string>

#include "cli/terminal/terminal_text.hpp"

namespace spillway {

namespace {

using nlohmann::json;

void print_row(std::ostream& out, const std::array<std::string, 7>& cells) {
  print_cells(out, cells, std::array<int, 7>{32, 9, 20, 8, 21, 16, 0});
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
  const bool is_paused = job.value("paused", false);
  print_row(out,
            {member(job, "id"), is_paused ? "paused" : member(job, "state"),
             seconds_of(member(job, "accepted_at")), member(job, "attempts"), member(job, "cause"),
             member(job, "route"), member(job, "method") + " " + member(job, "target")});
}

void print_inspected_job(std::ostream& out, const json& job) {
  for (const char* name :
       {"id", "state", "cause", "status", "route", "tenant", "attempts", "recoveries",
        "accepted_at", "due_at", "paused", "position", "ended_at", "expires_at", "body_bytes"}) {
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
