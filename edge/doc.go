// Package edge is the library door: Open a model file under a memory budget,
// make a Session, Generate tokens.
//
// It introduces the rooms to each other: the file to the planner, the plan to
// the arena, the arena to the cache and the model. It holds no numerics, no
// formats and no I/O but the model file; the command line and the HTTP service
// are its users.
package edge
