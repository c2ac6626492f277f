// Command race does nothing: that it builds and runs with -race tells .ci/run
// whether the race detector can be used on this machine.
package main

func main() {}
