#include "store/sealed_store.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "store/seal.hpp"

namespace spillway::store {

namespace {

// The caller's commands are lent: after a failure it executes them again, so what was sealed for
// the time of one execution is put back.
class Lent {
 public:
  explicit Lent(const Key& key) : key_(key) {}
  ~Lent() {
    for (auto& [place, plain] : texts_) *place = std::move(plain);
    for (const auto& [place, limit] : limits_) *place = limit;
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  void seal_value(std::string& value, const jobs::JobId& job, Sealed kind) {
    std::optional<std::string> sealed = seal(value, key_, job, kind);
    has_failed_ = has_failed_ || !sealed;
    texts_.emplace_back(&value, std::exchange(value, std::move(sealed).value_or("")));
  }
  // A part of a sealed body cannot be opened.
  void lift(std::size_t& limit) {
    limits_.emplace_back(&limit, limit);
    limit = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  }
  bool has_failed() const { return has_failed_; }

 private:
  const Key& key_;
  std::vector<std::pair<std::string*, std::string>> texts_;
  std::vector<std::pair<std::size_t*, std::size_t>> limits_;
  bool has_failed_ = false;
};

class SealedStore final : public JobStore {
 public:
  SealedStore(const Key& key, std::unique_ptr<JobStore> inner)
      : key_(key), inner_(std::move(inner)) {}

  std::optional<Failure> execute(std::span<Command* const> batch, jobs::WallTime now) override {
    std::optional<Failure> failure;
    {
      Lent lent(key_);
      for (Command* command : batch) seal_parts(*command, lent);
      if (lent.has_failed()) {
        return Failure{Failure::Kind::unavailable, "the system gives no random bytes"};
      }
      failure = inner_->execute(batch, now);
    }
    if (failure) return failure;
    for (Command* command : batch) open_parts(*command);
    return std::nullopt;
  }

  void rest() override { inner_->rest(); }

 private:
  void seal_parts(Command& command, Lent& lent) const {
    if (auto* enqueue = std::get_if<Enqueue>(&command)) {
      lent.seal_value(enqueue->job.head, enqueue->job.id, Sealed::head);
      lent.seal_value(enqueue->job.body, enqueue->job.id, Sealed::body);
    } else if (auto* settle = std::get_if<Settle>(&command); settle && settle->answer) {
      lent.seal_value(settle->answer->fields, settle->id, Sealed::answer_fields);
      lent.seal_value(settle->answer->body, settle->id, Sealed::answer_body);
    } else if (auto* inspect = std::get_if<Inspect>(&command)) {
      lent.lift(inspect->body_limit);
    }
  }

  void open_parts(Command& command) const {
    if (auto* claim = std::get_if<Claim>(&command)) {
      for (jobs::LeasedJob& job : claim->jobs) {
        job.head = unseal(job.head, key_, job.id, Sealed::head).value_or("");
        job.body = unseal(job.body, key_, job.id, Sealed::body).value_or("");
      }
    } else if (auto* find = std::get_if<Find>(&command)) {
      if (find->job) correct_size(*find->job);
    } else if (auto* read = std::get_if<ReadAnswer>(&command)) {
      open_answer(*read);
    } else if (auto* inspect = std::get_if<Inspect>(&command)) {
      inspect->head = unseal(inspect->head, key_, inspect->id, Sealed::head).value_or("");
      inspect->body = unseal(inspect->body, key_, inspect->id, Sealed::body).value_or("");
      if (inspect->body.size() > inspect->body_limit) inspect->body.resize(inspect->body_limit);
      if (inspect->job) correct_size(*inspect->job);
    } else if (auto* list = std::get_if<List>(&command)) {
      for (jobs::JobView& job : list->jobs) correct_size(job);
    }
  }

  void open_answer(ReadAnswer& read) const {
    if (!read.answer) return;
    auto fields = unseal(read.answer->fields, key_, read.id, Sealed::answer_fields);
    auto body = unseal(read.answer->body, key_, read.id, Sealed::answer_body);
    if (!fields || !body) {
      read.answer.reset();
      return;
    }
    read.answer->fields = std::move(*fields);
    read.answer->body = std::move(*body);
  }

  static void correct_size(jobs::JobView& job) {
    if (job.body_bytes >= kSealBytes) job.body_bytes -= kSealBytes;
  }

  Key key_;
  std::unique_ptr<JobStore> inner_;
};

}  // namespace

std::unique_ptr<JobStore> sealed_with(const Key& key, std::unique_ptr<JobStore> inner) {
  return std::make_unique<SealedStore>(key, std::move(inner));
}

}  // namespace spillway::store
