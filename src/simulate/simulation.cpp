#include "simulate/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulate/backend_model.hpp"
#include "simulate/client_model.hpp"
#include "simulate/event_queue.hpp"
#include "simulate/loop_model.hpp"
#include "simulate/proxy_model.hpp"
#include "simulate/recorder.hpp"
#include "simulate/request.hpp"
#include "simulate/servers_model.hpp"

namespace spillway::simulate {
namespace {

using namespace std::chrono_literals;

// The periods of the proxy's workers.
constexpr Milliseconds kTimerPeriod{10};
constexpr Milliseconds kSweepPeriod{50};
// Simulated after the end, so that the last requests are answered.
constexpr Duration kDrain = 2s;
constexpr TimePoint kBegin = TimePoint{} + 1h;

class Simulation {
 public:
  Simulation(const Scenario& scenario, bool shedding, const Progress& progress)
      : scenario_(scenario),
        upstream_(scenario.config.upstreams[index(scenario.upstream)]),
        progress_(progress),
        clients_(scenario),
        backend_(scenario.backend, random_stream(scenario.seed, Draws::failures, 0)),
        servers_(upstream_, backend_.servers(), random_stream(scenario.seed, Draws::servers, 0)),
        loop_(std::chrono::microseconds(scenario.proxy.request_us)),
        recorder_(scenario, shedding, kBegin) {
    if (shedding) proxy_ = std::make_unique<ProxyModel>(scenario);
  }

  Recording run() {
    const TimePoint end = kBegin + std::chrono::seconds(scenario_.seconds);
    schedule_beginning();
    while (!events_.empty() && events_.next().at <= end + kDrain) {
      const Event event = events_.pop();
      if (event.request != nullptr && event.request->use != event.request_use) continue;
      now_ = event.at;
      handle(event);
    }
    WorkDone work = work_at_end_;
    work.available -= work_at_start_.available;
    work.useful -= work_at_start_.useful;
    work.wasted -= work_at_start_.wasted;
    return recorder_.finish(work);
  }

 private:
  void schedule_beginning() {
    for (const Change& change : scenario_.changes) {
      schedule(kBegin + from_seconds(change.at), EventKind::change);
      if (change.until) schedule(kBegin + from_seconds(*change.until), EventKind::change);
    }
    schedule(kBegin + std::chrono::seconds(scenario_.warm_up_seconds), EventKind::measure);
    for (std::uint32_t i = 0; i < clients_.processes(); ++i) schedule_arrival(i);
    if (proxy_) {
      schedule(kBegin + kTimerPeriod, EventKind::timer);
      schedule(kBegin + kSweepPeriod, EventKind::sweep);
      schedule(kBegin + upstream_.overload.tick, EventKind::tick);
    }
    schedule(kBegin + 1s, EventKind::second);
  }

  void schedule(TimePoint at, EventKind kind) { events_.push({.at = at, .kind = kind}); }
  void schedule(TimePoint at, EventKind kind, Request& request) {
    events_.push({.at = at, .kind = kind, .request = &request, .request_use = request.use});
  }

  // Schedules the next arrival of that process.
  void schedule_arrival(std::uint32_t process) {
    Request& request = pool_.acquire();
    const auto at = clients_.next(process, request);
    if (at) {
      schedule(kBegin + *at, EventKind::arrival, request);
    } else {
      pool_.release(request);
    }
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case EventKind::arrival:
        schedule_arrival(clients_.process_of(*event.request));
        arrive(*event.request);
        break;
      case EventKind::retry: arrive(*event.request); break;
      case EventKind::completion: complete(*event.request); break;
      case EventKind::gives_up: give_up(*event.request); break;
      case EventKind::slot_due:
        proxy_->end_unanswered(*event.request, now_);
        start_waiting();
        break;
      case EventKind::response_timeout: time_out(*event.request); break;
      case EventKind::resend: send(*event.request); break;
      case EventKind::loop:
        loop_.done();
        run_loop();
        break;
      case EventKind::timer:
        if (loop_.takes_time()) loop_.timer_due(now_);
        run_loop();
        while (Request* late = proxy_->expire(now_)) expire(*late);
        start_waiting();
        while (const auto lost = proxy_->next_ghost_lost()) recorder_.would_deny(*lost, now_);
        schedule(now_ + kTimerPeriod, EventKind::timer);
        break;
      case EventKind::sweep:
        proxy_->sweep(now_);
        schedule(now_ + kSweepPeriod, EventKind::sweep);
        break;
      case EventKind::tick: tick(); break;
      case EventKind::change:
        backend_.apply(changes_in_force(), now_);
        work_in_backend();
        break;
      case EventKind::second: end_second(); break;
      case EventKind::measure: work_at_start_ = backend_.work_done(now_); break;
    }
  }

  void arrive(Request& request) {
    request.came = now_;
    request.client_waits = true;
    recorder_.offered(request);
    if (const auto timeout = clients_.timeout(request))
      schedule(now_ + *timeout, EventKind::gives_up, request);
    if (!proxy_) {
      send(request);
    } else if (!loop_.takes_time()) {
      admit(request);
    } else {
      request.in_loop = true;
      loop_.add(request);
      run_loop();
    }
  }

  void run_loop() {
    while (loop_.is_idle()) {
      Request* const request = loop_.take(now_);
      if (request == nullptr) return;
      request->in_loop = false;
      bool is_refused = true;
      if (request->client_waits) {
        is_refused = !admit(*request);
      } else {
        pool_.release(*request);
      }
      schedule(now_ + loop_.work(is_refused), EventKind::loop);
    }
  }

  // False: the request was refused, or answered without the backend.
  bool admit(Request& request) {
    const ProxyModel::Admission admission = proxy_->arrive(request, now_);
    if (admission.would_refuse) recorder_.would_deny(request.traffic_class, now_);
    if (admission.evicted != nullptr) expire(*admission.evicted);
    switch (admission.entry) {
      case ProxyModel::Entry::start: start(request); return true;
      case ProxyModel::Entry::forward: send(request); return true;
      case ProxyModel::Entry::wait: note_depth(); return true;
      case ProxyModel::Entry::refused:
        recorder_.denied(request);
        lose(request, admission.retry_after);
        return false;
      case ProxyModel::Entry::answered:
        recorder_.admitted(request, now_);
        request.begun = now_;
        request.work = 0;
        recorder_.served(request, now_);
        request.client_waits = false;
        pool_.release(request);
        return false;
    }
    return false;
  }

  void start(Request& request) {
    proxy_->start(request, now_);
    send(request);
  }

  // Starts every request that the gate now gives a slot.
  void start_waiting() {
    while (Request* next = proxy_->next(now_)) start(*next);
  }

  void send(Request& request) {
    if (!std::exchange(request.is_sent, true)) {
      recorder_.admitted(request, now_);
      servers_.begin(now_);
    }
    using Connected = ServersModel::Connected;
    const auto accepts = [this](std::size_t server) { return backend_.accepts(server); };
    const Connected connected = proxy_ ? servers_.connect(request, accepts, now_)
                                       : servers_.connect_in_turn(request, accepts);
    if (connected == Connected::yes) {
      reach(request);
    } else if (!proxy_) {
      recorder_.failed(request, now_);
      lose(request, Duration{0});
    } else {
      send_again_or_fail(request, connected);
    }
  }

  void reach(Request& request) {
    request.in_backend = true;
    backend_.arrive(request);
    const Duration patience = upstream_.response_timeout;
    const auto timeout = clients_.timeout(request);
    if (proxy_ && (!timeout || request.came + *timeout > now_ + patience))
      schedule(now_ + patience, EventKind::response_timeout, request);
    work_in_backend();
    note_depth();
  }

  // A retry keeps the request's slot.
  void send_again_or_fail(Request& request, ServersModel::Connected connected) {
    if (connected == ServersModel::Connected::refused) {
      const TimePoint due = request.dispatched + upstream_.response_timeout;
      if (const auto pause = servers_.retry(request, due, now_)) {
        schedule(now_ + *pause, EventKind::resend, request);
        return;
      }
    }
    if (request.call.was_refused) proxy_->failed(request);
    fail(request);
  }

  // The proxy answers with an error.
  void fail(Request& request) {
    request.begun = now_;
    const bool is_answered = proxy_->answers_error(request, now_);
    is_answered ? recorder_.served(request, now_) : recorder_.failed(request, now_);
    proxy_->end(request, now_);
    is_answered ? leave(request) : lose(request, Duration{0});
    start_waiting();
  }

  // The backend is not told, and goes on.
  void time_out(Request& request) {
    if (!request.client_waits) return;
    request.timed_out = true;
    servers_.end(request, resilience::CallResult::failure, now_);
    proxy_->failed(request);
    fail(request);
  }

  void work_in_backend() {
    while (const auto begun = backend_.begin_next()) {
      begun->request->begun = now_;
      schedule(now_ + begun->takes, EventKind::completion, *begun->request);
    }
  }

  void complete(Request& request) {
    backend_.finish(request);
    request.in_backend = false;
    const bool is_awaited = request.client_waits;
    bool is_answered = true;  // or its client has left
    if (is_awaited) {
      if (proxy_) proxy_->answered(request, now_);
      is_answered = !request.fails || (proxy_ && proxy_->answers_error(request, now_));
      is_answered ? recorder_.served(request, now_) : recorder_.failed(request, now_);
      using resilience::CallResult;
      servers_.end(request, request.fails ? CallResult::failure : CallResult::success, now_);
    } else if (!request.timed_out) {
      recorder_.late(request, now_);
    }
    work_in_backend();
    if (proxy_) is_awaited ? proxy_->end(request, now_) : proxy_->end_abandoned(request, now_);
    is_answered ? leave(request) : lose(request, Duration{0});
    if (proxy_) start_waiting();
  }

  // The client leaves. The proxy frees its queue place, and its slot once the backend has finished
  // the request, or should have.
  void give_up(Request& request) {
    if (!request.client_waits) return;
    if (proxy_ && !request.in_backend) {
      const bool is_queued = request.in_loop || proxy_->cancel(request, now_);
      is_queued ? recorder_.left(request) : recorder_.failed(request, now_);
    }
    servers_.end(request, resilience::CallResult::ignored, now_);
    if (proxy_) {
      const TimePoint until = request.in_backend ? proxy_->abandon(request, now_) : now_;
      until > now_ ? schedule(until, EventKind::slot_due, request) : proxy_->end(request, now_);
    }
    lose(request, Duration{0});
    if (proxy_) start_waiting();
  }

  void expire(Request& request) {
    recorder_.expired(request, now_);
    lose(request, proxy_->expired(request, now_));
  }

  // Its client no longer waits.
  void leave(Request& request) {
    request.client_waits = false;
    if (!request.in_backend && !request.in_loop) pool_.release(request);
  }

  // The client got no answer and may retry; a retry is a new request.
  void lose(Request& request, Duration retry_after) {
    request.client_waits = false;
    if (const auto pause = clients_.pause_before_retry(request, retry_after)) {
      Request& again = pool_.acquire();
      ClientModel::repeat(request, again);
      schedule(now_ + *pause, EventKind::retry, again);
    }
    leave(request);
  }

  void tick() {
    std::optional<Duration> lag = loop_.lag(now_);
    for (const Change* change : changes_in_force()) {
      if (change->event_loop_lag)
        lag = std::max<Duration>(lag.value_or(0ms), *change->event_loop_lag);
    }
    if (const auto transition = proxy_->tick(now_, lag)) {
      recorder_.changed(now_, transition->to, transition->reason);
    }
    schedule(now_ + upstream_.overload.tick, EventKind::tick);
  }

  void end_second() {
    const auto seconds = static_cast<std::uint32_t>((now_ - kBegin) / 1s);
    Second end;
    end.queued = static_cast<std::uint32_t>(depth());
    end.running = backend_.running();
    for (std::size_t c = 0; c < scenario_.config.classes.size(); ++c) {
      const auto id = static_cast<ClassId>(c);
      end.class_queued.push_back(
          static_cast<std::uint32_t>(backend_.queued(id) + (proxy_ ? proxy_->queued(id) : 0)));
    }
    if (proxy_) {
      end.state = proxy_->state();
      end.reason = proxy_->reason();
      end.limit = proxy_->limit();
    }
    end.work = backend_.work_done(now_);
    recorder_.end_second(std::move(end));
    if (progress_) progress_(seconds);
    if (seconds < scenario_.seconds) {
      schedule(now_ + 1s, EventKind::second);
    } else {
      work_at_end_ = backend_.work_done(now_);
    }
  }

  std::vector<const Change*> changes_in_force() const {
    std::vector<const Change*> out;
    const double at = to_seconds(now_ - kBegin);
    for (const Change& change : scenario_.changes) {
      if (change.at <= at && (!change.until || at < *change.until)) out.push_back(&change);
    }
    return out;
  }

  std::size_t depth() const { return backend_.queued() + (proxy_ ? proxy_->queued() : 0); }
  void note_depth() { recorder_.depth(depth(), now_); }

  const Scenario& scenario_;
  const config::Upstream& upstream_;
  const Progress& progress_;
  ClientModel clients_;
  BackendModel backend_;
  ServersModel servers_;
  LoopModel loop_;
  std::unique_ptr<ProxyModel> proxy_;  // null: without shedding
  Recorder recorder_;
  RequestPool pool_;
  EventQueue events_;
  TimePoint now_ = kBegin;
  WorkDone work_at_start_, work_at_end_;
};

}  // namespace

Recording simulate(const Scenario& scenario, bool shedding, const Progress& progress) {
  return Simulation(scenario, shedding, progress).run();
}

}  // namespace spillway::simulate
