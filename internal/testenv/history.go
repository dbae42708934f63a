package testenv

import (
	"os/exec"
	"testing"
)

// History ends a test that needs an earlier commit where the checkout does not have it: a source archive or a shallow clone
// cannot show what was before.
func History(t testing.TB, commit string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+"^{commit}").Run(); err != nil {
		t.Skipf("this checkout does not reach back to %s: %v", commit, err)
	}
}
