#!/usr/bin/env bash
# Writes peer-logits.json: what llama.cpp computes for the models that the tests of edge/model generate.
#   peer-logits.sh LLAMA_CPP_SOURCE BUILD_FOLDER > peer-logits.json
# The build is a static one (-DBUILD_SHARED_LIBS=OFF). Needs go, g++ and python3.
set -euo pipefail
source=$1 build=$2 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
g++ -O2 -std=c++17 -I"$source/include" -I"$source/ggml/include" "$here/logits.cpp" -o "$work/logits" \
  "$build"/src/libllama.a "$build"/ggml/src/libggml{,-cpu,-base}.a -fopenmp -lpthread -ldl
(cd "$here/.." && go test -count=1 -run TestFamiliesEqualThePeer . -write "$work" >&2)
for model in "$work"/*.gguf; do
  for prompt in "$work"/prompt-*.txt; do
    n=${prompt##*-}
    "$work/logits" "$model" "$prompt" 2>/dev/null >"$work/$(basename "$model" .gguf)@${n%.txt}.json"
  done
done
python3 - "$work" <<'PYTHON'
import glob, json, os, sys
models = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*@*.json"))):
    name, n = os.path.basename(path)[:-5].split("@")
    models.setdefault(name, {})[n] = json.load(open(path))
provenance = ("llama.cpp as shipped in the source of llama-cpp-python 0.3.36 (PyPI), CPU backend, x86-64 with "
              "AVX-512, F32 weights and cache; written by peer-logits.sh from logits.cpp")
print('{"provenance": %s,\n"models": {' % json.dumps(provenance))
print(",\n".join('%s: {\n%s}' % (json.dumps(m), ",\n".join('"%s": %s' % (n, json.dumps(c, separators=(",", ":")))
      for n, c in cases.items())) for m, cases in models.items()) + "}}")
PYTHON
