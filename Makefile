# make build   programs, in build/release/bin
# make test    the everyday tests
# make check   everything else: layers, headers, the API reference, clang, sanitizers, slow tests, FUZZ_SECONDS of fuzzing a target, compile
#              cost, nvcc
# make compilers  all but thorough tests with clang 15, clang 16 and a current clang; takes half an hour (COMPILERS chooses)
# make mutate    breaks the rules of planning one by one and looks whether drawn programs notice; takes most of an hour
# make coverage  which lines of include/tx all but thorough tests run, with GCC; fails below COVERAGE_MIN percent; TESTS chooses programs
# make docs    the API reference, from the headers' comments, in build/docs/html
# make install   copies headers and the CMake package to PREFIX (default /usr/local)
# make train   fetches the pairs, trains the twin encoder into runs/twinbert and scores it
# make gpt     fetches the same texts, trains a language model of bytes on them for GPT_SECONDS into runs/gpt and has it write
# make bert    fetches a pretrained encoder (MiniLM) and sentences of film reviews, trains it to tell good from bad ones into runs/bert, scores it
# make bench   builds the benchmarks; with PEERS=1 also installs PyTorch, JAX, ONNX Runtime and OpenVINO under build/ and compares
#              training steps, attention, bounded batches, a text that is written, inference, an epoch of unequal texts, tokenizers, fine-tuning, vectors of
#              sentences, pre-training and distillation; POOLS, DTYPES, DROPOUTS and MODELS choose
# make parity  film reviews and package descriptions through tokenizers of each kind, and through those of Hugging Face: the same ids, places and texts;
#              MiniLM's hidden states, gradients and steps beside transformers'; folders of four families there and back
# make format  clang-format over all sources
# make clean   removes build/; runs/ and .cache/ stay
PRESET ?= release
JOBS ?= $(shell nproc)
DATA ?= .cache/twinbert
RUN ?= runs/twinbert
GPT ?= runs/gpt
GPT_SECONDS ?= 240
BERT_DATA ?= .cache/bert
BERT ?= runs/bert
MODELS ?= twin,minilm,base
DTYPES ?= f32 bf16
POOLS ?= first mean
DROPOUTS ?= 0.1,0
TESTS ?= tests programs
COVERAGE_MIN ?= 90
FUZZ_SECONDS ?= 60
COMPILERS ?= clang++-15 clang++-16 zig
PREFIX ?= /usr/local

bin = build/$(PRESET)/bin
compile = cmake --build --preset $(PRESET) -j $(JOBS)
# $(call trained_into,FOLDER,COMMAND): goes on where it was stopped; a folder that is finished is left as it is
trained_into = if [ -e $(1)/checkpoints ]; then $(2) --out $(1) --resume; \
  elif [ -e $(1)/model.safetensors ]; then echo "The model is in $(1)/ already; remove it to train another."; \
  else $(2) --out $(1); fi

.PHONY: build test check compilers mutate coverage docs install train gpt bert bench parity format clean setup configure data
.DEFAULT_GOAL := build

setup:
	@tools/setup.sh

configure: setup
	@cmake --preset $(PRESET) >/dev/null

build: configure
	@$(compile)

test: configure
	@$(compile) --target tests
	@tools/run_tests.sh $(PRESET) -j 2 -L everyday

check:
	@tools/setup.sh check
	@JOBS=$(JOBS) FUZZ_SECONDS=$(FUZZ_SECONDS) tools/check.sh

compilers:
	@tools/setup.sh check
	@for compiler in $(COMPILERS); do JOBS=$(JOBS) tools/other_compiler.sh $$compiler tests || exit 1; done

mutate:
	@tools/setup.sh check
	@tools/mutate.py --jobs $(JOBS)

coverage:
	@tools/setup.sh check
	@JOBS=$(JOBS) COVERAGE_MIN=$(COVERAGE_MIN) tools/coverage.sh $(TESTS)

docs:
	@tools/setup.sh docs
	@tools/docs.sh

install: configure
	@cmake --install build/$(PRESET) --prefix $(PREFIX)

data: build
	@TWINBERT_DATA=$(CURDIR)/$(bin)/twinbert_data examples/twinbert/data/fetch.sh $(DATA)

train: data
	$(bin)/twinbert train --pairs $(DATA)/train.tsv --dev $(DATA)/dev.section.tsv --out $(RUN) --set-aside
	$(bin)/twinbert train --pairs $(DATA)/train.tsv --dev $(DATA)/dev.section.tsv --out $(RUN)/layers-0 --layers 0
	@echo "Held-out pairs, against documents of any section and of the same section; layers-0 is the model without encoder:"
	@$(bin)/twinbert eval --model $(RUN) --model $(RUN)/layers-0 \
	  --pairs $(DATA)/test.random.tsv --pairs $(DATA)/test.section.tsv
	@echo "The model is in $(RUN)/."

gpt: data
	@sed 's/\t/: /' $(DATA)/train.tsv >$(DATA)/train.txt
	@sed 's/\t/: /' $(DATA)/dev.tsv >$(DATA)/dev.txt
	@$(call trained_into,$(GPT),$(bin)/gpt train --text $(DATA)/train.txt --dev $(DATA)/dev.txt --seconds $(GPT_SECONDS))
	@$(bin)/gpt generate --model $(GPT) --prompt "Tool for " --temperature 0.7

bert: configure
	@tools/setup.sh pip
	@$(compile) --target bert
	@examples/bert/data/fetch.sh $(BERT_DATA)
	@$(call trained_into,$(BERT),$(bin)/bert finetune --model $(BERT_DATA)/minilm --data $(BERT_DATA)/train.tsv --dev $(BERT_DATA)/dev.tsv)
	$(bin)/bert eval --model $(BERT) --data $(BERT_DATA)/dev.tsv
	@head -n 5 $(BERT_DATA)/dev.tsv | cut -f2 >$(BERT)/five.txt
	$(bin)/bert predict --model $(BERT) --text $(BERT)/five.txt

bench: configure
	@$(compile) --target benches
ifdef PEERS
	@bench/compare/setup.sh build/peers
	@bench/compare/setup_zen.sh build/peers-zen
	@for dtype in $(DTYPES); do for pool in $(POOLS); do \
	  build/peers/bin/python bench/compare/run.py --python build/peers/bin/python --tx $(bin)/bench_step --models $(MODELS) --dtype $$dtype --pool $$pool --dropouts $(DROPOUTS) || exit 1; \
	done; done
	@build/peers/bin/python bench/compare/recompute.py --tx $(bin)/bench_step
	@build/peers/bin/python bench/compare/attention.py --tx $(bin)/bench_attention
	@$(bin)/bench_bounded --what encode
	@$(bin)/bench_bounded --what train
	@$(MAKE) --no-print-directory gpt
	@build/peers/bin/python bench/compare/generate.py --tx $(bin)/gpt --model $(GPT)
	@build/peers/bin/python bench/compare/encode.py --tx $(bin)/bench_encode
	@build/peers/bin/python bench/compare/epoch.py --tx $(bin)/bench_epoch
	@build/peers/bin/python bench/compare/text_to_ids.py --tx $(bin)/bench_tokenize
	@$(compile) --target bert small_bert tiny_bert twinbert twinbert_data
	@examples/bert/data/fetch.sh $(BERT_DATA)
	@TWINBERT_DATA=$(CURDIR)/$(bin)/twinbert_data examples/twinbert/data/fetch.sh $(DATA)
	@build/peers/bin/python bench/compare/finetune.py --tx $(bin)/bert --data $(BERT_DATA) --steps 30
	@build/peers/bin/python bench/compare/embed.py --tx $(bin)/bert --model $(BERT_DATA)/minilm --texts $(BERT_DATA)/train.tsv,$(BERT_DATA)/dev.tsv
	@build/peers/bin/python bench/compare/pretrain.py --tx $(bin)/tiny_bert --texts $(DATA)/train.tsv --dev $(DATA)/dev.tsv
	@build/peers/bin/python bench/compare/distil.py --teacher $(bin)/bert --student $(bin)/small_bert --twinbert $(bin)/twinbert --pairs $(DATA) --model $(BERT_DATA)/minilm
endif

parity: configure
	@$(compile) --target text_tokens minilm_step parity_folders twinbert_data
	@test -x build/parity/bin/python || python3 -m venv build/parity
	@build/parity/bin/python -m pip --disable-pip-version-check -q install tokenizers==0.23.3
	@TWINBERT_DATA=$(CURDIR)/$(bin)/twinbert_data build/parity/bin/python tests/parity/all_texts.py --tx $(bin)/text_tokens --reviews $(BERT_DATA) --packages $(DATA)
	@bench/compare/setup.sh build/peers
	@build/peers/bin/python tests/parity/minilm.py --tx $(bin)/minilm_step --model $(BERT_DATA)/minilm --texts $(BERT_DATA)/dev.tsv
	@build/peers/bin/python tests/parity/folders.py --programs $(bin) --texts $(BERT_DATA)/dev.tsv

format:
	@command -v clang-format >/dev/null || { echo "clang-format is not installed (package clang-format)" >&2; exit 1; }
	@find include examples tests bench \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) \
	  -exec clang-format -i {} +

clean:
	rm -rf build
