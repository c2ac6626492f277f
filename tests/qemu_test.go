package tests

// Other architectures: the tests of the packages that hold assembly or count
// pages, built for arm64 and run under QEMU's user mode. A Cortex-A53 has no
// dot products (a wrong choice of kernels dies there with SIGILL), a
// Cortex-A76 has, and the Raspberry Pi 5 has pages of 16 KiB, which concern
// who maps memory.

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"edgeinfer/tests/shared"
)

func TestArm64UnderQEMU(t *testing.T) {
	if testing.Short() {
		t.Skip("emulation does not run in short mode")
	}
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("qemu-aarch64 is missing; .ci/run installs it")
		}
		t.Skip("qemu-aarch64 is missing (package qemu-user)")
	}
	folder := t.TempDir()
	for _, room := range []string{"arena", "kernels", "edge/kv", "edge/model", "edge"} {
		dir := filepath.Join(shared.Root(t), room)
		binary := filepath.Join(folder, filepath.Base(room)+".test")
		build := exec.Command("go", "test", "-c", "-o", binary, ".")
		build.Dir, build.Env = dir, append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		if noasm {
			build.Args = append(build.Args[:2], append([]string{"-tags", "noasm"}, build.Args[2:]...)...)
		}
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building the tests of %s: %v\n%s", room, err, out)
		}
		machines := [][]string{{"-cpu", "cortex-a53"}, {"-cpu", "cortex-a76"}}
		if room == "arena" || room == "edge" {
			machines = append(machines, []string{"-cpu", "cortex-a76", "-p", "16384"})
		}
		for _, machine := range machines {
			t.Run(room+" "+machine[1]+pageSize(machine), func(t *testing.T) {
				t.Parallel()
				run := exec.Command(qemu, append(machine, binary, "-test.short")...)
				run.Dir, run.Env = dir, append(os.Environ(), "EDGEINFER_TEST_EMULATED=1")
				if out, err := run.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

func pageSize(machine []string) string {
	if len(machine) > 2 {
		return " pages of " + machine[3]
	}
	return ""
}
