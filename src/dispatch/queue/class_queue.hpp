// Intrusive doubly linked lists: no allocation, removal from anywhere in O(1).
#pragma once

namespace spillway::dispatch {

// The links of an object in one kind of list; Tag names the kind, so that an object can be in one
// list of each kind. Must not be destroyed, copied or moved while linked.
template <class Tag>
class Hook {
 public:
  Hook() = default;
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

  bool linked() const { return next_ != nullptr; }

  // Removes the object from its list; it must be in one.
  void unlink() {
    previous_->next_ = next_;
    next_->previous_ = previous_;
    previous_ = next_ = nullptr;
  }

 private:
  template <class, class>
  friend class IntrusiveList;

  Hook* previous_ = nullptr;
  Hook* next_ = nullptr;
};

// First in, first out. T derives from Hook<Tag>.
template <class T, class Tag>
class IntrusiveList {
 public:
  IntrusiveList() { ends_.previous_ = ends_.next_ = &ends_; }

  bool empty() const { return ends_.next_ == &ends_; }
  // The oldest and the youngest item; nullptr if empty.
  T* front() const { return empty() ? nullptr : static_cast<T*>(ends_.next_); }
  T* back() const { return empty() ? nullptr : static_cast<T*>(ends_.previous_); }

  void push_back(T& item) {
    Hook<Tag>& hook = item;
    hook.previous_ = ends_.previous_;
    hook.next_ = &ends_;
    ends_.previous_->next_ = &hook;
    ends_.previous_ = &hook;
  }

  void push_front(T& item) {
    Hook<Tag>& hook = item;
    hook.previous_ = &ends_;
    hook.next_ = ends_.next_;
    ends_.next_->previous_ = &hook;
    ends_.next_ = &hook;
  }

  T* pop_front() {
    T* item = front();
    if (item != nullptr) static_cast<Hook<Tag>*>(item)->unlink();
    return item;
  }

  // Moves all items of `other` to the end, in O(1).
  void append(IntrusiveList& other) {
    if (other.empty()) return;
    ends_.previous_->next_ = other.ends_.next_;
    other.ends_.next_->previous_ = ends_.previous_;
    other.ends_.previous_->next_ = &ends_;
    ends_.previous_ = other.ends_.previous_;
    other.ends_.previous_ = other.ends_.next_ = &other.ends_;
  }

 private:
  Hook<Tag> ends_;  // before the first and after the last
};

}  // namespace spillway::dispatch
