// In place of rabbitmq.cpp where librabbitmq was not found.
#include <stdexcept>

#include "bench/jobs/broker.hpp"

namespace spillway::job_bench {

std::unique_ptr<Queue> rabbitmq(const std::string&) {
  throw std::runtime_error(without_rabbitmq());
}

std::string without_rabbitmq() { return "librabbitmq-dev was not installed when this was built"; }

}  // namespace spillway::job_bench
