package edge_test

import (
	"context"
	"fmt"
	"log"

	"edgeinfer/edge"
	"edgeinfer/edge/sample"
	"edgeinfer/edge/tokenizer"
)

// The embedded model tells a story; the cache is planned to fit the budget.
func Example() {
	engine, err := edge.Open(edge.Options{BudgetBytes: 64 << 20, ContextTokens: 256, KV: "k8v4"})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	session, err := engine.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	prompt := engine.Tokenizer().Encode(nil, "Once upon a time", tokenizer.Options{BOS: true})
	request := edge.Request{Tokens: prompt, MaxTokens: 20,
		Sampling: sample.Params{Temperature: 0, TopP: 1, RepeatPenalty: 1}}
	result, err := session.Generate(context.Background(), request, func(piece []byte) {
		fmt.Printf("%s", piece)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("\n%d tokens, planned %t\n", len(result.Tokens),
		engine.UsedBytes() == engine.Plan().TotalBytes)
}
