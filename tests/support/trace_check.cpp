#include "tests/support/trace_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/config/value.hpp"

namespace podsim::test {
namespace {

// Of catapult's colour scheme, to which the format refers.
const std::set<std::string> k_colours{"thread_state_uninterruptible",
                                      "thread_state_iowait",
                                      "thread_state_running",
                                      "thread_state_runnable",
                                      "thread_state_sleeping",
                                      "thread_state_unknown",
                                      "generic_work",
                                      "good",
                                      "bad",
                                      "terrible",
                                      "black",
                                      "grey",
                                      "white",
                                      "yellow",
                                      "olive",
                                      "rail_response",
                                      "rail_animation",
                                      "rail_idle",
                                      "rail_load",
                                      "startup"};

using Track = std::pair<std::int64_t, std::int64_t>;  // process and thread

class Check {
 public:
  std::vector<std::string> problems(std::string_view json) {
    Diagnostics diagnostics;
    const std::optional<Value> trace = parse_json(json, "trace", diagnostics);
    if (!trace) return {diagnostics.to_text()};
    const Value* unit = trace->find("displayTimeUnit");
    if (unit == nullptr || (unit->as_string() != "ns" && unit->as_string() != "ms")) tell("displayTimeUnit");
    const Value* events = trace->find("traceEvents");
    if (events == nullptr || !events->is(Value::Kind::array)) return {"traceEvents is no list"};
    for (const Value& event : events->elements()) add(event);
    check_names();
    check_slices();
    return problems_;
  }

 private:
  // The first few are enough.
  void tell(const std::string& problem) {
    if (problems_.size() < 20) problems_.push_back(problem);
  }
  std::string text(const Value& event, std::string_view key) {
    const Value* found = event.find(key);
    if (found != nullptr && found->is(Value::Kind::string)) return found->as_string();
    tell(fmt::format("line {}: no {}", event.place().line, key));
    return "";
  }
  std::int64_t number(const Value& event, std::string_view key) {
    const Value* found = event.find(key);
    if (found != nullptr && found->is(Value::Kind::integer)) return found->as_integer();
    tell(fmt::format("line {}: no {}", event.place().line, key));
    return -1;
  }
  // Picoseconds of a member in microseconds.
  std::int64_t time(const Value& event, std::string_view key) {
    const Value* found = event.find(key);
    const bool numeric = found != nullptr && (found->is(Value::Kind::integer) || found->is(Value::Kind::floating));
    if (numeric && found->as_number() >= 0) return std::llround(found->as_number() * 1e6);
    tell(fmt::format("line {}: {} is no time from 0 on", event.place().line, key));
    return 0;
  }

  void add(const Value& event) {
    const std::string kind = text(event, "ph");
    const Track track{number(event, "pid"), number(event, "tid")};
    const std::string name = text(event, "name");
    if (kind == "M") {
      add_metadata(event, track, name);
    } else if (kind == "X") {
      const std::int64_t begin = time(event, "ts");
      slices_[track].emplace_back(begin, begin + time(event, "dur"));
      text(event, "cat");
      const Value* colour = event.find("cname");
      if (colour != nullptr && !k_colours.contains(colour->as_string())) tell("unknown colour " + colour->as_string());
    } else if (kind == "C") {
      time(event, "ts");
      processes_used_.insert(track.first);
      const Value* values = event.find("args");
      if (values == nullptr || values->members().empty()) return tell("a counter without values: " + name);
      for (const Value::Member& value : values->members()) {
        if (value.value.is(Value::Kind::string)) tell("a counter with a text: " + name);
      }
    } else if (kind == "i") {
      time(event, "ts");
      const std::string scope = text(event, "s");
      if (scope != "g" && scope != "p" && scope != "t") tell("an instant of scope " + scope);
    } else {
      tell("an event of kind " + kind);
    }
  }

  void add_metadata(const Value& event, Track track, const std::string& name) {
    const bool sorts = name == "process_sort_index" || name == "thread_sort_index";
    const Value* value = event.find(sorts ? "args.sort_index" : "args.name");
    if (value == nullptr || !value->is(sorts ? Value::Kind::integer : Value::Kind::string)) {
      return tell("metadata without its value: " + name);
    }
    if (name == "process_name") {
      processes_named_.insert(track.first);
    } else if (name == "thread_name") {
      if (!tracks_named_.insert(track).second) tell("two names of a track: " + value->as_string());
    } else if (!sorts) {
      tell("unknown metadata " + name);
    }
  }

  void check_names() {
    for (const auto& [track, slices] : slices_) {
      processes_used_.insert(track.first);
      if (!tracks_named_.contains(track)) tell(fmt::format("track {}, {} has no name", track.first, track.second));
    }
    for (const std::int64_t process : processes_used_) {
      if (!processes_named_.contains(process)) tell(fmt::format("process {} has no name", process));
    }
  }

  void check_slices() {
    for (auto& [track, slices] : slices_) {
      // Of two that begin together the longer one is the outer one.
      std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first, -a.second) < std::pair(b.first, -b.second);
      });
      std::vector<std::int64_t> ends;
      for (const auto& [begin, end] : slices) {
        while (!ends.empty() && ends.back() <= begin) ends.pop_back();
        if (!ends.empty() && end > ends.back()) {
          tell(fmt::format("track {}, {}: a slice from {} to {} ps overlaps one that ends at {} ps", track.first,
                           track.second, begin, end, ends.back()));
        }
        ends.push_back(end);
      }
    }
  }

  std::vector<std::string> problems_;
  std::map<Track, std::vector<std::pair<std::int64_t, std::int64_t>>> slices_;
  std::set<Track> tracks_named_;
  std::set<std::int64_t> processes_named_, processes_used_;
};

}  // namespace

std::vector<std::string> trace_problems(std::string_view json) {
  return Check().problems(json);
}

}  // namespace podsim::test
