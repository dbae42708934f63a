//go:build !linux

package e2e

import (
	"syscall"
	"testing"
)

// dieWithParent has no counterpart here: a test binary that is killed leaves its servers behind.
func dieWithParent() *syscall.SysProcAttr { return nil }

// peakKiB is not told everywhere; nothing is within every bound.
func (v *server) peakKiB(*testing.T) int { return 0 }
