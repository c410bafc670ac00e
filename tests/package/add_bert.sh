#!/usr/bin/env bash
# Usage: add_bert.sh CMAKE SOURCE_DIR
# What tx_add_bert writes of its words into the model's header, and which words it refuses. CMake runs it as a script, which ends before the targets.
set -uo pipefail
cmake=$1
root=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

cat > "$folder/small.json" <<'END'
{"model_type": "bert", "num_hidden_layers": 2, "hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 24, "vocab_size": 142,
 "max_position_embeddings": 40}
END
sed 's/"num_attention_heads": 2/"num_attention_heads": 4/' "$folder/small.json" > "$folder/other.json"
cat > "$folder/distilled.json" <<'END'
{"model_type": "distilbert", "n_layers": 2, "dim": 16, "n_heads": 2, "hidden_dim": 24, "vocab_size": 142, "max_position_embeddings": 40}
END

# What CMake prints, on one line, and the header where one is written.
added() {
  rm -rf "$folder/prog_model"
  printf 'cmake_minimum_required(VERSION 3.21)\ninclude(%s/cmake/TxAddBert.cmake)\ntx_add_bert(prog %s)\n' "$root" "$1" > "$folder/script.cmake"
  printed=$(cd "$folder" && "$cmake" -P script.cmake 2>&1 | tr -s ' \n' ' ')
  header=$(cat "$folder/prog_model/bert_model.hpp" 2>/dev/null)
}
refuses() {  # WORDS TEXT
  added "$1"
  [[ $printed == *"$2"* && $printed =~ FIX:|known\ (is|are) && -z $header ]] && return
  printf 'add_bert: %s\n  does not say: %s\n  but: %s\n' "$1" "$2" "$printed"
  failed=1
}
writes() {  # WORDS LINE...
  added "$1"
  for line in "${@:2}"; do
    [[ $header == *"$line"* ]] && continue
    printf 'add_bert: %s\n  does not write: %s\n  but: %s\n' "$1" "$line" "$header"
    failed=1
  done
}

of="small.json HEADS sequence=2 LENGTHS 30"
writes "$of" "int rank = 0;" "using trained = tx::names<>;" "using frozen = tx::names<>;" "bool layer_decay = false;" "bool attention = false;"
writes "$of LORA 8 16" "int rank = 8;" "double alpha = 16;" "double dropout = 0;" 'using adapted = tx::names<"*.layer.*.query", "*.layer.*.value">;'
writes "$of LORA 8 16 0.1" "double alpha = 16;" "double dropout = 0.1;" 'using adapted = tx::names<"*.layer.*.query", "*.layer.*.value">;'
writes "$of LORA 8 16 0.05 dense" "double dropout = 0.05;" 'using adapted = tx::names<"*.layer.*.dense">;'
writes "$of LORA 4 0.5 dense TRAINED classifier.* bert.pooler.* LAYER_DECAY" "int rank = 4;" "double alpha = 0.5;" 'using adapted = tx::names<"*.layer.*.dense">;' \
  'using trained = tx::names<"classifier.*", "bert.pooler.*">;' "bool layer_decay = true;" 'below = "bert.embeddings*";'
writes "distilled.json HEADS sequence=2 LENGTHS 30 LORA 8 16" 'using adapted = tx::names<"*.layer.*.q_lin", "*.layer.*.v_lin">;' 'below = "distilbert.embeddings*";'
mkdir "$folder/whole" && cp "$folder/small.json" "$folder/whole/config.json"
writes "whole HEADS sequence=2 LENGTHS 30" "program = \"prog\";" "labels = 2;"
writes "$of" "bool bf16 = false, bf16_on_devices = false;"
writes "$of BF16" "bool bf16 = true, bf16_on_devices = true;"
writes "$of BF16 WHERE_FAST" "bf16_on_devices = true;"
writes "$of" "int ranks = 0;" "int zero = 0;"
writes "$of RANKS 4" "int ranks = 4;" "int zero = 0;"
writes "$of RANKS 4 ZERO 2" "int ranks = 4;" "int zero = 2;"
refuses "$of RANKS 0" "RANKS 0. FIX: a whole number from 1 on"
writes "$of RANKS 4 ZERO 3" "int ranks = 4;" "int zero = 3;" "int tensor = 1;"
writes "$of RANKS 4 ZERO 1 TENSOR 2" "int ranks = 4;" "int tensor = 2;"
refuses "$of RANKS 3 TENSOR 2" "RANKS 3 TENSOR 2. FIX: RANKS is a multiple of TENSOR"
refuses "$of RANKS 4 ZERO 1 TENSOR 2 ACCUMULATE 2" "ACCUMULATE keeps sums that ZERO beside TENSOR does not divide. FIX: leave one out"
refuses "$of ZERO 1" "ZERO 1. FIX: ZERO is 1, 2 or 3, with RANKS, the number of processes"
refuses "$of RANKS 2 ZERO 4" "ZERO 4. FIX: ZERO is 1, 2 or 3"
refuses "$of RANKS 2 ZERO 1 LAYER_DECAY" "there is no LAYER_DECAY, AVERAGE, adafactor or novograd beside it. FIX: leave one out"
refuses "$of RANKS 2 ZERO 1 OPTIMIZER novograd" "there is no LAYER_DECAY, AVERAGE, adafactor or novograd beside it"
writes "$of" "using optimizer = void;" "int accumulate = 1;"
writes "$of OPTIMIZER lion ACCUMULATE 4" "#include <tx/train/lion.hpp>" "using optimizer = tx::lion;" 'optimizer_name = "lion";' "int accumulate = 4;"
writes "$of" "double average = 0;"
writes "$of AVERAGE 0.999" "double average = 0.999;"
refuses "$of AVERAGE 1.5" "AVERAGE 1.5. FIX: a decay between 0 and 1"
refuses "$of AVERAGE 0.9 TEACHER other.json" "LORA, TRAINED, FROZEN and AVERAGE are of finetune"
refuses "small.json HEADS embed LENGTHS 30 AVERAGE 0.9" "or AVERAGE take the mean"
refuses "$of WHERE_FAST" "WHERE_FAST says where BF16 is wanted. FIX: BF16 WHERE_FAST"
writes "$of FROZEN bert.embeddings.*" 'using frozen = tx::names<"bert.embeddings.*">;'
writes "$of TEACHER distilled.json HIDDEN_STATES ATTENTION" "bool hidden_states = true;" "bool attention = true;"

for words in "LORA 8" "LORA 0 16" "LORA 8 0" "LORA 8 -1" "LORA query value"; do
  refuses "$of $words" "LORA: a rank of at least 1 and an alpha above 0"
done
refuses "$of LORA 8 16 1.5 query" "LORA: bert has no layer 1.5. FIX: of query, key, value, dense"
refuses "$of LORA 8 16 q_lin" "LORA: bert has no layer q_lin. FIX: of query, key, value, dense"
refuses "$of LORA 8 16 FROZEN bert.embeddings.*" "LORA trains adapters and the head alone. FIX: leave out FROZEN"
refuses "small.json HEADS sequence=2 LENGHTS 30" "LENGHTS is not known, did you mean LENGTHS?; known are HEADS, LENGTHS"
refuses "$of TRAINED classifier.* FROZEN bert.*" "TRAINED and FROZEN exclude each other"
refuses "$of FROZEN bert,embeddings" "a pattern of names is made of letters"
refuses "$of LORA 8 16 TEACHER small.json" "distil and pretrain train all"
refuses "small.json HEADS pretrain sequence=2 FROZEN bert.* LENGTHS 30" "distil and pretrain train all"
refuses "$of ATTENTION" "HIDDEN_STATES and ATTENTION are a teacher's"
refuses "$of TEACHER other.json ATTENTION" "small.json has 2 heads, its teacher 4. FIX: a student of as many heads"
refuses "$of LORA LAYER_DECAY" "there is nothing behind LORA"
refuses "$of FROZEN" "there is nothing behind FROZEN"
refuses "$of LORA 0" "LORA: a rank of at least 1"
refuses "small.json HEADS embed LENGTHS 30 LORA 8 16" "nothing is trained of which LORA"
refuses "small.json LENGTHS 30 LAYER_DECAY" "nothing is trained of which LORA"
refuses "none.json" "there is no $folder/none.json"
refuses "small.json HEADS sequence=1" "a head sequence=1 is not known"
refuses "small.json HEADS sequence=2 sequence=3" "a program has one head of a kind"
refuses "small.json HEADS sequence=2 regression" "regression is one for whole texts as sequence=N is"
refuses "small.json LENGTHS 10 20 30" "LENGTHS 10;20;30. FIX: one number, or two"
refuses "small.json LENGTHS 10 BATCH many" "BATCH many. FIX: a whole number from 1 on"
refuses "small.json HEADS pretrain LENGTHS 10 PREDICTIONS 0" "PREDICTIONS 0. FIX: a whole number from 1 on"
refuses "$of ACCUMULATE 0" "ACCUMULATE 0. FIX: a whole number from 1 on"
refuses "$of OPTIMIZER adam" "OPTIMIZER adam is not known. FIX: adamw, lamb"
refuses "small.json HEADS embed LENGTHS 30 ACCUMULATE 2" "nothing is trained, by OPTIMIZER or with ACCUMULATE"
refuses "small.json LENGTHS 20 10" "texts that are learned from are no longer than others"
refuses "small.json LENGTHS 60" "the model's 40 positions"
refuses "small.json LAYERS 3" "LAYERS;3 is not known, did you mean LAYER_DECAY?"
echo '{"model_type": "gpt2"}' > "$folder/gpt2.json"
refuses "gpt2.json" "is of a model gpt2"
sed 's/"model_type": "bert"/&, "hidden_act": "relu"/' "$folder/small.json" > "$folder/relu.json"
refuses "relu.json" "is relu; known is gelu"
exit $failed
