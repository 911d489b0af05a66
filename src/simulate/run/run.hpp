// A run of a scenario: takes the next event and lets clients, Spillway and backend process it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "simulate/model/backend_model.hpp"
#include "simulate/model/client_model.hpp"
#include "simulate/model/event_queue.hpp"
#include "simulate/model/jobs_model.hpp"
#include "simulate/model/loop_model.hpp"
#include "simulate/model/proxy_model.hpp"
#include "simulate/model/request.hpp"
#include "simulate/model/servers_model.hpp"
#include "simulate/model/visitors_model.hpp"
#include "simulate/recording/recording.hpp"
#include "simulate/run/recorder.hpp"
#include "simulate/run/simulation.hpp"
#include "simulate/scenario/scenario.hpp"

namespace spillway::simulate {

inline constexpr TimePoint kBegin = TimePoint{} + std::chrono::hours(1);

class Run {
 public:
  // Keeps references. run() may be called once.
  Run(const Scenario& scenario, bool shedding, const Progress& progress);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Recording run();

 private:
  void schedule_beginning();
  void schedule(TimePoint at, EventKind kind) { events_.push({.at = at, .kind = kind}); }
  void schedule(TimePoint at, EventKind kind, Request& request) {
    events_.push({.at = at, .kind = kind, .request = &request, .request_use = request.use});
  }
  void schedule_arrival(std::uint32_t process);
  void handle(const Event& event);
  void on_timer();
  void tick();
  void end_second();
  std::vector<const Change*> changes_in_force() const;

  void arrive(Request& request);
  void run_loop();
  bool admit(Request& request);
  void start(Request& request);
  void start_waiting();
  void send(Request& request);
  void reach(Request& request);
  void send_again_or_fail(Request& request, ServersModel::Connected connected);
  void fail(Request& request, Reason reason);
  void time_out(Request& request);
  void take_slot(Request& request);
  void work_in_backend();
  void complete(Request& request);
  void give_up(Request& request);
  void expire(Request& request);
  void leave(Request& request);
  void lose(Request& request, Duration retry_after);
  void depart(Request& request);
  std::size_t depth() const { return backend_.queued() + (proxy_ ? proxy_->queued() : 0); }
  void note_depth() { recorder_.depth(depth(), now_); }

  // Visitors: run_visitors.cpp.
  void come(Request& pattern);
  void act(Request& pattern);
  void go_on(Request& pattern, const VisitorsModel::Step& step);
  void end_page(Request& page, bool is_served, Duration retry_after);

  // Deferred requests: run_jobs.cpp.
  bool defer(Request& request);
  void ask_for_jobs();
  void pull_jobs();
  bool enter_job(Request& job);
  bool may_begin(Request& job);
  bool may_send_again(Request& job);
  void complete_job(Request& job);
  void end_job(Request& job, jobs::Cause how);
  bool wait_for_spare_slot(Request& job);
  void end_spare_wait(Request& job);
  void give_back_job(Request& job, jobs::NoSlot how);

  const Scenario& scenario_;
  const config::Upstream& upstream_;
  const Progress& progress_;
  ClientModel clients_;
  BackendModel backend_;
  ServersModel servers_;
  LoopModel loop_;
  std::unique_ptr<ProxyModel> proxy_;  // null: without shedding
  JobsModel jobs_;
  VisitorsModel visitors_;
  Recorder recorder_;
  RequestPool pool_;
  EventQueue events_;
  TimePoint now_{};
  bool is_pulling_ = false;  // the job dispatcher waits for the store's answer
  WorkDone work_at_start_, work_at_end_;
};

}  // namespace spillway::simulate
