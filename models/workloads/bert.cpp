#include "models/workloads/bert.hpp"

namespace podsim {

namespace {

EncoderSpec make_spec() {
  EncoderSpec spec;
  spec.type = "bert";
  spec.family = "BERT";
  spec.architectures = {{"BertForPreTraining", "pretraining"},
                        {"BertForMaskedLM", "masked-lm"},
                        {"BertForQuestionAnswering", "question-answering"},
                        {"BertForSequenceClassification", "sequence-classification"},
                        {"BertForTokenClassification", "token-classification"},
                        {"BertForMultipleChoice", "multiple-choice"},
                        {"BertModel", "none"}};
  spec.heads = {"pretraining",     "masked-lm", "question-answering", "sequence-classification", "token-classification",
                "multiple-choice", "none"};
  return spec;
}

}  // namespace

Bert::Bert() : EncoderModel(make_spec()) {}

}  // namespace podsim
