//go:build !linux

package testenv

import "testing"

// MemoryDir returns t.TempDir: there is no directory in memory that every such system has.
func MemoryDir(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}
