//go:build mutant

package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// limit is the maximum time of the tests to find a bug, without the build.
const limit = 2 * time.Minute

// Every planted bug is found. At most two are tested at a time (make mutants), because each build and each search for a
// race uses more than one processor.
func TestMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			binary := m.build(t, m.overlay(t, m.apply(t)))
			start := time.Now()
			output, err := run(t, m, binary)
			for err == nil && time.Since(start) < limit { // a race may not happen the first time
				output, err = run(t, m, binary)
			}
			t.Logf("%s, after %s", verdict(err), time.Since(start).Round(time.Millisecond))
			if failed := (*exec.ExitError)(nil); !errors.As(err, &failed) || !strings.Contains(output, "--- FAIL") {
				t.Errorf("%s of %s do not find it: %v\n%s", m.run, m.pkg, err, output)
			}
		})
	}
}

// Without a planted bug the same tests pass, so the failures above are caused by the bugs.
func TestMutants_without_a_bug(t *testing.T) {
	t.Parallel()
	runs := map[string][]string{}
	for _, m := range mistakes {
		for name := range strings.SplitSeq(m.run, "|") {
			if !slices.Contains(runs[m.pkg], name) {
				runs[m.pkg] = append(runs[m.pkg], name)
			}
		}
	}
	for pkg, names := range runs {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			m := mistake{pkg: pkg}
			binary := m.build(t, "")
			for _, m.run = range names { // one at a time, which shows that each exists
				if output, err := run(t, m, binary); err != nil || strings.Contains(output, "no tests to run") {
					t.Errorf("%s without a bug = %v, want a pass:\n%s", m.run, err, output)
				}
			}
		})
	}
}

func verdict(err error) string {
	if err != nil {
		return "found"
	}
	return "not found"
}

// overlay makes the go command compile the file with the bug.
func (m mistake) overlay(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	from := testenv.Must(filepath.Abs(filepath.Join(root, m.file)))(t)
	to := filepath.Join(dir, filepath.Base(m.file))
	list := testenv.Must(json.Marshal(map[string]map[string]string{"Replace": {from: to}}))(t)
	overlay := filepath.Join(dir, "overlay.json")
	testenv.NoError(t, errors.Join(os.WriteFile(to, []byte(text), 0o600), os.WriteFile(overlay, list, 0o600)))
	return overlay
}

// build builds the test binary. A bug that does not compile would prove nothing about the tests.
func (m mistake) build(t *testing.T, overlay string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "tests")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", binary, "./"+m.pkg)
	cmd.Dir = root
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go test -c ./%s = %v\n%s", m.pkg, err, output)
	}
	return binary
}

// run runs the tests in the directory of their package, as the go command would.
func run(t *testing.T, m mistake, binary string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	args := []string{"-test.run", m.run, "-test.failfast", "-test.timeout", limit.String()}
	// rapid would store the sequence that found the bug, and later runs would find the bug by it alone.
	if content := testenv.Must(os.ReadFile(binary))(t); bytes.Contains(content, []byte("rapid.nofailfile")) {
		args = append(args, "-rapid.nofailfile")
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = filepath.Join(root, m.pkg)
	output, err := cmd.CombinedOutput()
	return string(output), err
}
