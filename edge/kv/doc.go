// Package kv is the cache of keys and values and the attention over it.
//
// A model calls Step once per layer and token run: it appends keys and values,
// quantizes what leaves the window of recent tokens, and attends. Formats,
// windows, sinks, pages and their sharing are the package's secret. All memory
// comes from the arena at New; what a session may hold is bounded by the plan.
//
// It is not for choosing formats or sizes (that is the planner's), knows no
// model, applies no position encoding, and does not schedule: one goroutine at
// a time uses a Cache and its sessions.
package kv
