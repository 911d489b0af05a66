#include "reporter.hpp"

#include <ostream>
#include <string>

#include "table.hpp"

namespace spillway::micro {
namespace {

double nanoseconds(const benchmark::BenchmarkReporter::Run& run) {
  const auto iterations = static_cast<double>(run.iterations);
  // The library divides the wall time by the iterations of all threads together.
  const double seconds = run.threads > 1
                             ? run.real_accumulated_time * static_cast<double>(run.threads)
                             : run.cpu_accumulated_time;
  return seconds * 1e9 / iterations;
}

}  // namespace

bool Reporter::ReportContext(const Context& context) {
  GetOutputStream() << context.cpu_info.num_cpus << " CPUs";
  if (!context.cpu_info.load_avg.empty()) {
    GetOutputStream() << ", load " << context.cpu_info.load_avg.front();
  }
  GetOutputStream() << "; medians of the repetitions\n\n" << times_heading() << std::endl;
  return true;
}

void Reporter::ReportRuns(const std::vector<Run>& runs) {
  std::vector<double> times;
  for (const Run& run : runs) {
    if (run.error_occurred) {
      failed_ = true;
      GetErrorStream() << run.benchmark_name() << ": " << run.error_message << std::endl;
    } else if (run.run_type == Run::RT_Iteration) {
      times.push_back(nanoseconds(run));
    }
  }
  if (times.empty()) return;
  const std::string& name = runs.front().run_name.function_name;
  GetOutputStream() << times_line(name, times, suite_.target(name)) << std::endl;
}

}  // namespace spillway::micro
