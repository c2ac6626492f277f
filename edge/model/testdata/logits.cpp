// Prints what llama.cpp computes for the models that edge/model generates, as
// one line of JSON a model and prompt. peer-logits.sh calls it.
//
//   logits MODEL.gguf PROMPT.txt     the prompt is token ids, separated by blanks
//
// The context is 512, the cache F32, attention is not fused, the prompt is one
// batch, no token is added. Every position gives its arg-max, the last one all
// of its logits.

#include "llama.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <vector>

int main(int argc, char ** argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s MODEL.gguf PROMPT.txt\n", argv[0]);
        return 2;
    }
    std::vector<llama_token> ids;
    std::ifstream prompt(argv[2]);
    for (llama_token id; prompt >> id;) {
        ids.push_back(id);
    }
    llama_backend_init();
    llama_model * model = llama_model_load_from_file(argv[1], llama_model_default_params());
    if (!model || ids.empty()) {
        fprintf(stderr, "cannot read %s or %s\n", argv[1], argv[2]);
        return 1;
    }
    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = params.n_ubatch = 512;
    params.type_k = params.type_v = GGML_TYPE_F32;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.n_threads = params.n_threads_batch = 1;
    llama_context * context = llama_init_from_model(model, params);
    llama_batch batch = llama_batch_init(ids.size(), 0, 1);
    batch.n_tokens = ids.size();
    for (size_t i = 0; i < ids.size(); i++) {
        batch.token[i] = ids[i];
        batch.pos[i] = i;
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = 1;
    }
    if (llama_decode(context, batch) != 0) {
        fprintf(stderr, "decoding failed\n");
        return 1;
    }
    const int vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
    printf("{\"argmax_each\":[");
    for (size_t i = 0; i < ids.size(); i++) {
        const float * logits = llama_get_logits_ith(context, i);
        printf("%s%td", i ? "," : "", std::max_element(logits, logits + vocab) - logits);
    }
    printf("],\"last\":[");
    const float * last = llama_get_logits_ith(context, ids.size() - 1);
    for (int i = 0; i < vocab; i++) {
        printf("%s%.6g", i ? "," : "", last[i]);
    }
    printf("]}\n");
}
