#include "models/workloads/roberta.hpp"

namespace podsim {

namespace {

EncoderSpec make_spec() {
  EncoderSpec spec;
  spec.type = "roberta";
  spec.family = "RoBERTa";
  spec.architectures = {{"RobertaForMaskedLM", "masked-lm"},
                        {"RobertaForQuestionAnswering", "question-answering"},
                        {"RobertaForSequenceClassification", "sequence-classification"},
                        {"RobertaForTokenClassification", "token-classification"},
                        {"RobertaForMultipleChoice", "multiple-choice"},
                        {"RobertaModel", "none"}};
  spec.heads = {"masked-lm", "question-answering", "sequence-classification", "token-classification", "multiple-choice",
                "none"};
  spec.default_vocabulary = 50265;
  spec.reserved_positions = 2;  // positions count from behind the padding token
  spec.sequence_head = SequenceHead::dense;
  return spec;
}

}  // namespace

Roberta::Roberta() : EncoderModel(make_spec()) {}

}  // namespace podsim
