#include "models/workloads/deberta.hpp"

namespace podsim {

namespace {

EncoderSpec make_spec() {
  EncoderSpec spec;
  spec.type = "deberta";
  spec.family = "DeBERTa";
  spec.architectures = {{"DebertaForMaskedLM", "masked-lm"},
                        {"DebertaForQuestionAnswering", "question-answering"},
                        {"DebertaForSequenceClassification", "sequence-classification"},
                        {"DebertaForTokenClassification", "token-classification"},
                        {"DebertaModel", "none"}};
  spec.heads = {"masked-lm", "question-answering", "sequence-classification", "token-classification", "none"};
  spec.default_vocabulary = 50265;
  spec.default_types = 0;
  spec.has_relative_attention = true;
  spec.pools = false;
  spec.sequence_head = SequenceHead::dense;  // the context pooler is a dense layer on the first token
  spec.notes = {
      "relative attention is costed as the products of content with position embeddings and two assumed passes per "
      "gather of scores; no published run of it was compared"};
  return spec;
}

}  // namespace

DeBerta::DeBerta() : EncoderModel(make_spec()) {}

}  // namespace podsim
