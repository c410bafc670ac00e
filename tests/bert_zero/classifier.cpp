#define TX_BERT_MODEL_HEADER "../../tests/bert_zero/model.hpp"
#include "../../examples/bert/classifier.cpp"
