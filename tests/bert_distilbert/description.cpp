// What knows the model beside its programs.
#define TX_BERT_MODEL_HEADER "../../tests/bert_distilbert/model.hpp"
#include "../../examples/bert/description.cpp"
