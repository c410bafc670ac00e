// What knows the model beside its classifier. It has no other programs.
#define TX_BERT_MODEL_HEADER "../../tests/bert_zero/model.hpp"
#include "../../examples/bert/description.cpp"
