// The arguments of `spillway jobs`.
#include <string>

#include "cli/admin/admin_arguments.hpp"
#include "cli/admin/jobs_command.hpp"
#include "jobs/job_id.hpp"

namespace spillway {

namespace {

std::string is_job_id(const std::string& text) {
  return jobs::parse_job_id(text) ? "" : "not the id of a job: " + text;
}

CLI::App& add_action(CLI::App& jobs, JobsOptions& to, JobsAction action, const char* name,
                     const char* help) {
  CLI::App& command = add_admin_action(jobs, to, name, help);
  command.callback([&to, action] { to.action = action; });
  return command;
}

CLI::Option* add_id(CLI::App& command, JobsOptions& to, const char* help) {
  return command.add_option("ID", to.id, help)->check(is_job_id, "");
}

void add_filter(CLI::App& command, JobsOptions& to) {
  command.add_option("--state", to.state, "Only jobs in this state, e.g. dead");
  command.add_option("--route", to.route, "Only jobs of this route");
  command.add_option("--cause", to.cause, "Only jobs that failed for this cause, e.g. rejected");
  command.add_option("--accepted-from", to.accepted_from,
                     "Only jobs accepted then or later, e.g. 2026-11-23T20:00:00Z");
  command.add_option("--accepted-before", to.accepted_before, "Only jobs accepted earlier");
  command.add_option("--ended-from", to.ended_from, "Only jobs that ended then or later");
  command.add_option("--ended-before", to.ended_before, "Only jobs that ended earlier");
}

void add_change(CLI::App& command, JobsOptions& to) {
  CLI::Option* const id = add_id(command, to, "One job");
  add_filter(command, to);
  CLI::Option* const limit =
      command.add_option("--limit", to.limit, "Jobs at most; this or --all is needed with --yes")
          ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  command.add_flag("--all", to.all, "All that match now, 10,000 at a time")
      ->excludes(id)
      ->excludes(limit);
  command.add_flag("--yes", to.yes, "Do it; without it only what would happen is shown");
}

}  // namespace

void add_jobs(CLI::App& app, JobsOptions& to) {
  CLI::App& jobs = *app.add_subcommand("jobs", "See and change the deferred requests of a proxy");
  jobs.require_subcommand(1);
  CLI::App& list = add_action(jobs, to, JobsAction::list, "list", "List jobs, the oldest first");
  add_filter(list, to);
  list.add_option("--after", to.after, "Go on behind this job");
  list.add_option("--limit", to.limit, "Jobs at most (100)")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}));
  CLI::App& show =
      add_action(jobs, to, JobsAction::show, "show", "One job: request, state, every attempt");
  add_id(show, to, "The job")->required();
  CLI::App& replay = add_action(jobs, to, JobsAction::replay, "replay",
                                "Let dead and expired jobs wait again, under the same ids");
  add_change(replay, to);
  replay.add_option("--per-second", to.per_second, "Spread them: so many become due in a second");
  replay.add_option("--ttl-ms", to.ttl_ms, "They expire so long from now");
  CLI::App& cancel = add_action(jobs, to, JobsAction::cancel, "cancel", "Cancel a job that waits");
  add_id(cancel, to, "The job")->required();
  add_change(add_action(jobs, to, JobsAction::purge, "purge", "Delete jobs that have ended"), to);
}

}  // namespace spillway
