//go:build unix

package redisdb

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes an exclusive lock that the kernel releases when the process ends. The file is never removed: otherwise two
// processes could lock two files of the same name.
func lock(path, _ string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("redisdb: lock: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w (%s is locked)", ErrRunning, path)
	}
	return nil, fmt.Errorf("redisdb: lock: %w", err)
}
