#include "sim/report/trace.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "sim/core/json_writer.hpp"

namespace podsim {
namespace {

// Microseconds with six decimals: whole picoseconds.
std::string microseconds(SimTime time) {
  return fmt::format("{}.{:06}", time.picoseconds() / 1'000'000, time.picoseconds() % 1'000'000);
}

// The process of a track: the viewer shows one group of tracks per process.
int process(TrackKind kind) {
  return static_cast<int>(kind) + 1;
}

constexpr int k_memory_process = 4;

// By category, of the colours that viewers of this format know by name.
constexpr std::array<std::string_view, k_cost_categories> k_colours = {
    "thread_state_running",  // compute
    "thread_state_runnable",
    "thread_state_iowait",  // exchange
    "yellow",
    "rail_response",  // inter_device
    "rail_load",
    "olive",  // off_chip_memory
    "rail_animation",
    "good",  // weight_update
    "grey",
    "white",  // bubble
    "generic_work",
};

std::string track_name(const TraceTrack& track) {
  return track.same_as.empty() ? track.name : track.name + " (simulated as " + track.same_as + ")";
}

void add_event(std::string& text, const std::string& event) {
  text += (text.back() == '[' ? "\n" : ",\n") + event;
}

void add_metadata(std::string& text, const Trace& trace) {
  static constexpr const char* k_processes[] = {"program", "devices", "links", "memories"};
  for (int pid = 1; pid <= k_memory_process; ++pid) {
    add_event(text, fmt::format(R"({{"ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":"{}"}}}})", pid,
                                k_processes[pid - 1]));
    add_event(
        text,
        fmt::format(R"({{"ph":"M","pid":{0},"tid":0,"name":"process_sort_index","args":{{"sort_index":{0}}}}})", pid));
  }
  for (std::size_t t = 0; t < trace.tracks.size(); ++t) {
    const int pid = process(trace.tracks[t].kind);
    add_event(text, fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", pid,
                                t + 1, json_quoted(track_name(trace.tracks[t]))));
    add_event(text,
              fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
                          pid, t + 1, t + 1));
  }
}

void add_slices(std::string& text, const Trace& trace) {
  for (const TraceSlice& slice : trace.slices) {
    const TrackKind kind = trace.tracks[slice.track].kind;
    std::string event = fmt::format(R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}")",
                                    process(kind), slice.track + 1, microseconds(slice.begin),
                                    microseconds(slice.duration), json_quoted(trace.names[slice.name]),
                                    kind == TrackKind::program ? "program" : name(slice.category));
    if (kind != TrackKind::program) {
      event += fmt::format(R"(,"cname":"{}")", k_colours[static_cast<std::size_t>(slice.category)]);
    }
    if (slice.iterations > 1) event += fmt::format(R"(,"args":{{"runs":{},"shown":1}})", slice.iterations);
    if (kind == TrackKind::link) event += fmt::format(R"(,"args":{{"bytes":{}}})", slice.bytes.count());
    add_event(text, event + "}");
  }
}

void add_levels(std::string& text, const Trace& trace) {
  for (const TraceLevel& level : trace.levels) {
    add_event(text,
              fmt::format(R"({{"ph":"C","pid":{},"tid":0,"ts":{},"name":{},"args":{{"bytes":{}}}}})", k_memory_process,
                          microseconds(level.at), json_quoted(trace.memories[level.memory]), level.bytes.count()));
  }
}

}  // namespace

std::string to_trace_json(const Trace& trace) {
  std::string text = R"({"displayTimeUnit":"ns","traceEvents":[)";
  text.reserve(160 * (trace.slices.size() + trace.levels.size() + trace.tracks.size()) + 1024);
  add_metadata(text, trace);
  add_slices(text, trace);
  add_levels(text, trace);
  if (trace.left_out > 0) {
    add_event(text,
              fmt::format(R"({{"ph":"i","pid":1,"tid":1,"ts":{},"s":"g","name":"cut here: {} further slices )"
                          R"(left out, above the limit of {}"}})",
                          microseconds(trace.slices.empty() ? SimTime()
                                                            : trace.slices.back().begin + trace.slices.back().duration),
                          trace.left_out, trace.limit));
  }
  text += fmt::format("\n],\"otherData\":{{\"simulated_ps\":{},\"left_out\":{}}}}}\n", trace.total.picoseconds(),
                      trace.left_out);
  return text;
}

}  // namespace podsim
