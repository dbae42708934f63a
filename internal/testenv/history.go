package testenv

import (
	"os/exec"
	"testing"
)

// History skips a test that needs an earlier commit if the checkout does not have it, as in a source archive or a
// shallow clone.
func History(t testing.TB, commit string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("this checkout does not reach back to %s: %v", commit, err)
	}
}
