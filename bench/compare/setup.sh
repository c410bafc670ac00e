#!/usr/bin/env bash
# Usage: setup.sh DIR
# Installs the frameworks that tx is compared with into a virtual environment: PyTorch, Transformers, JAX, ONNX Runtime, OpenVINO, SentencePiece,
# sentence-transformers. Some 3 GB, a few minutes; does nothing where it is there. No part of building or testing tx.
set -euo pipefail
dir=${1:?usage: setup.sh DIR}
[ -e "$dir/ready" ] && exit 0
python3 -m venv "$dir"
"$dir/bin/pip" -q install torch transformers safetensors numpy jax onnx onnxruntime onnxscript openvino sentencepiece protobuf sentence-transformers optimum-onnx optimum-intel
touch "$dir/ready"
