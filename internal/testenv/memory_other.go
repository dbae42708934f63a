//go:build !linux

package testenv

import "testing"

// MemoryDir returns t.TempDir, because these systems have no common directory in memory.
func MemoryDir(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}
