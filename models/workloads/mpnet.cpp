#include "models/workloads/mpnet.hpp"

namespace podsim {

namespace {

EncoderSpec make_spec() {
  EncoderSpec spec;
  spec.type = "mpnet";
  spec.family = "MPNet";
  spec.architectures = {{"MPNetForMaskedLM", "masked-lm"},
                        {"MPNetForQuestionAnswering", "question-answering"},
                        {"MPNetForSequenceClassification", "sequence-classification"},
                        {"MPNetForTokenClassification", "token-classification"},
                        {"MPNetForMultipleChoice", "multiple-choice"},
                        {"MPNetModel", "none"}};
  spec.heads = {"masked-lm", "question-answering", "sequence-classification", "token-classification", "multiple-choice",
                "none"};
  spec.default_vocabulary = 30527;
  spec.has_types = false;
  spec.has_relative_buckets = true;
  spec.reserved_positions = 2;  // positions count from behind the padding token
  spec.sequence_head = SequenceHead::dense;
  spec.notes = {"the bias by relative position is costed as one assumed pass over the scores"};
  return spec;
}

}  // namespace

MpNet::MpNet() : EncoderModel(make_spec()) {}

}  // namespace podsim
