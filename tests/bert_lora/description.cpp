// What knows the model beside its classifier, and that it has no other programs.
#define TX_BERT_MODEL_HEADER "../../tests/bert_lora/model.hpp"
#include "../../examples/bert/description.cpp"
#include "../../examples/bert/without_answerer.cpp"
#include "../../examples/bert/without_contrastive.cpp"
#include "../../examples/bert/without_distiller.cpp"
#include "../../examples/bert/without_embedder.cpp"
#include "../../examples/bert/without_pretrainer.cpp"
#include "../../examples/bert/without_tagger.cpp"
