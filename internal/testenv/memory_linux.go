package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const (
	sharedMemory = "/dev/shm"
	enoughMemory = 1 << 30
	memoryPrefix = "comanda-test-"
)

// MemoryDir returns a directory for the test in memory, where a sync costs nothing, or t.TempDir if there is no memory
// for it. Its files survive the death of a process, but not of the machine. Its name contains the process id, by which
// a later run recognizes the directories of killed processes.
func MemoryDir(t testing.TB) string {
	t.Helper()
	if !hasMemory() {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(sharedMemory, fmt.Sprintf("%s%d-", memoryPrefix, os.Getpid())) //nolint:usetesting // in memory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// hasMemory reports whether there is room in memory. It first removes directories that killed processes have left
// there.
var hasMemory = sync.OnceValue(func() bool {
	left, _ := filepath.Glob(filepath.Join(sharedMemory, memoryPrefix+"*")) // the pattern is valid
	for _, dir := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), memoryPrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			_ = os.RemoveAll(dir) // another process may be removing it too
		}
	}
	var s syscall.Statfs_t
	return syscall.Statfs(sharedMemory, &s) == nil && s.Bavail*uint64(s.Bsize) >= enoughMemory
})
