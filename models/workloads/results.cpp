#include "models/workloads/results.hpp"

#include "models/workloads/operators.hpp"

namespace podsim {
namespace {

std::int64_t results_per_sample(const ModelGraph& graph, const ModelShape& shape, const WorkloadSettings& settings) {
  constexpr std::int64_t k_span_scores = 2;       // start and end
  constexpr std::int64_t k_sentence_classes = 2;  // of next-sentence prediction
  const std::string& head = settings.head;
  const auto labels = shape.dimensions.find("num_labels");
  const std::int64_t classes = labels != shape.dimensions.end() ? labels->second : 1;
  if (head == "question-answering") return k_span_scores * graph.sequence_length;
  if (head == "multiple-choice") return 1;
  if (head == "token-classification") return classes * graph.sequence_length;
  if (head.ends_with("-classification")) return classes;
  if (head == "masked-lm") return settings.masked_tokens * graph.vocabulary;
  if (head == "pretraining") return settings.masked_tokens * graph.vocabulary + k_sentence_classes;
  if (head == "causal-lm" || head == "seq2seq" || head == "ctc") {
    // A generated token needs the scores of its position alone.
    const std::int64_t rows = settings.mode == RunMode::generation ? 1 : graph.sequence_length;
    return rows * graph.vocabulary;
  }
  return graph.sequence_length * graph.hidden;
}

}  // namespace

Bytes result_bytes(const ModelGraph& graph, const ModelShape& shape, const WorkloadSettings& settings) {
  return Bytes(graph.samples * results_per_sample(graph, shape, settings) *
               activation_element_bytes(settings.precision));
}

}  // namespace podsim
