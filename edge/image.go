package edge

// The program image: what the binary itself costs when all of it is resident.

import (
	"debug/elf"
	"os"
	"sync"

	"edgeinfer/arena"
)

// imageBytes returns the size of the program's loaded segments in whole pages:
// the sum of the PT_LOAD segments of the running ELF file, elsewhere the size
// of the file. It is 0 where the program cannot find itself.
var imageBytes = sync.OnceValue(func() int64 {
	path, err := os.Executable()
	if err != nil {
		return 0
	}
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		var total int64
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD {
				total += arena.RoundPage(int64(p.Memsz))
			}
		}
		return total
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return arena.RoundPage(info.Size())
})
