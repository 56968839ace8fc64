#pragma once
// A vector whose copies share their elements until one of them is changed: for what many plans have in common. Reading
// is that of a const vector; whoever changes one that is shared gets a copy first. Not for several threads to change.

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace podsim {

template <class T>
class SharedVector {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;
  using iterator = typename std::vector<T>::iterator;

  SharedVector() = default;
  SharedVector(std::initializer_list<T> elements) : elements_(std::make_shared<std::vector<T>>(elements)) {}
  SharedVector(std::vector<T> elements) : elements_(std::make_shared<std::vector<T>>(std::move(elements))) {}

  const std::vector<T>& get() const {
    static const std::vector<T> k_empty;
    return elements_ != nullptr ? *elements_ : k_empty;
  }
  operator const std::vector<T>&() const { return get(); }
  // Two with the same identity have the same elements, as long as neither is changed.
  const void* identity() const { return elements_.get(); }

  std::size_t size() const { return get().size(); }
  bool empty() const { return get().empty(); }
  const T& operator[](std::size_t i) const { return (*elements_)[i]; }
  const T& front() const { return get().front(); }
  const T& back() const { return get().back(); }
  const_iterator begin() const { return get().begin(); }
  const_iterator end() const { return get().end(); }
  auto rbegin() const { return get().rbegin(); }
  auto rend() const { return get().rend(); }

  T& operator[](std::size_t i) { return own()[i]; }
  T& front() { return own().front(); }
  T& back() { return own().back(); }
  iterator begin() { return own().begin(); }
  iterator end() { return own().end(); }
  void push_back(T value) { own().push_back(std::move(value)); }
  template <class... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    return own().emplace_back(std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  iterator insert(const_iterator at, Arguments&&... arguments) {
    return own().insert(at, std::forward<Arguments>(arguments)...);
  }
  void reserve(std::size_t size) { own().reserve(size); }
  void resize(std::size_t size) { own().resize(size); }
  void clear() { own().clear(); }

 private:
  std::vector<T>& own() {
    if (elements_ == nullptr) elements_ = std::make_shared<std::vector<T>>();
    if (elements_.use_count() > 1) elements_ = std::make_shared<std::vector<T>>(*elements_);
    return *elements_;
  }

  std::shared_ptr<std::vector<T>> elements_;  // null: empty
};

}  // namespace podsim
