#include "models/workloads/distilbert.hpp"

namespace podsim {

namespace {

EncoderSpec make_spec() {
  EncoderSpec spec;
  spec.type = "distilbert";
  spec.family = "DistilBERT";
  spec.architectures = {{"DistilBertForMaskedLM", "masked-lm"},
                        {"DistilBertForQuestionAnswering", "question-answering"},
                        {"DistilBertForSequenceClassification", "sequence-classification"},
                        {"DistilBertForTokenClassification", "token-classification"},
                        {"DistilBertForMultipleChoice", "multiple-choice"},
                        {"DistilBertModel", "none"}};
  spec.heads = {"masked-lm", "question-answering", "sequence-classification", "token-classification", "multiple-choice",
                "none"};
  spec.hidden = "dim";
  spec.layers = "n_layers";
  spec.attention_heads = "n_heads";
  spec.feed_forward = "hidden_dim";
  spec.default_layers = 6;
  spec.has_types = false;
  spec.pools = false;
  spec.sequence_head = SequenceHead::dense;
  spec.dense_multiple_choice = true;
  return spec;
}

}  // namespace

DistilBert::DistilBert() : EncoderModel(make_spec()) {}

}  // namespace podsim
