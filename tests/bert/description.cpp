#define TX_BERT_MODEL_HEADER "../../tests/bert/tiny_model.hpp"
#include "../../examples/bert/description.cpp"
