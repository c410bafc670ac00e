#define TX_BERT_MODEL_HEADER "../../tests/bert_lora/model.hpp"
#include "../../examples/bert/classifier.cpp"
