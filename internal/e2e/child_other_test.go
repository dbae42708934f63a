//go:build !linux

package e2e

import "syscall"

// dieWithParent has no counterpart here: a test binary that is killed leaves its servers behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
