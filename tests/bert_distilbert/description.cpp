// What knows the model beside its programs, and that it has no others.
#define TX_BERT_MODEL_HEADER "../../tests/bert_distilbert/model.hpp"
#include "../../examples/bert/description.cpp"
#include "../../examples/bert/without_distiller.cpp"
#include "../../examples/bert/without_pretrainer.cpp"
