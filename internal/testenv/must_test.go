package testenv

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// recorder is a TB that continues after a failure.
type recorder struct{ failures []string }

func (*recorder) Helper()             {}
func (r *recorder) Error(args ...any) { r.failures = append(r.failures, "error: "+fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.failures = append(r.failures, "fatal: "+fmt.Sprint(args...)) }

func TestMust(t *testing.T) {
	r := &recorder{}
	NoError(r, nil)
	Equal(r, []int{1, 2}, []int{1, 2})
	a, b := Must2(1, "two", nil)(r)
	if n := Must(3, nil)(r); a != 1 || b != "two" || n != 3 || len(r.failures) > 0 {
		t.Errorf("Must2 and Must = %d, %q, %d, want 1, two, 3 and no failure, not %q", a, b, n, r.failures)
	}
	NoError(r, io.EOF)
	Must(1, errors.New("no value"))(r)
	Must2(1, 2, errors.New("no values"))(r)
	if want := []string{"fatal: EOF", "fatal: no value", "fatal: no values"}; !slices.Equal(r.failures, want) {
		t.Errorf("%q, want %q", r.failures, want)
	}
	r.failures = nil
	Equal(r, "wanted", "got")
	if len(r.failures) != 1 || !strings.HasPrefix(r.failures[0], "error: ") || !strings.Contains(r.failures[0], "wanted") {
		t.Errorf("failures = %q, want one error with the wanted value", r.failures)
	}
}
