package testenv

import "github.com/google/go-cmp/cmp"

// TB is the part of testing.TB that tests of package rapid have too.
type TB interface {
	Helper()
	Error(args ...any)
	Fatal(args ...any)
}

// NoError fails the test at once with the first error that is not nil.
func NoError(t TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Must returns the value of a call that must not fail, or fails the test at once with the error of the call:
//
//	db := testenv.Must(sqldb.Open(ctx, config))(t)
//
// The test is passed to a second call, because Go passes several results on only to a function without further
// arguments.
func Must[T any](v T, err error) func(t TB) T {
	return func(t TB) T {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// Must2 is Must for a call with two values.
func Must2[A, B any](a A, b B, err error) func(t TB) (A, B) {
	return func(t TB) (A, B) {
		t.Helper()
		NoError(t, err)
		return a, b
	}
}

// Equal compares what a test wants with what it got. Of two values that differ it reports the difference.
func Equal(t TB, want, got any, opts ...cmp.Option) {
	t.Helper()
	if d := cmp.Diff(want, got, opts...); d != "" {
		t.Error("(-want +got):\n" + d)
	}
}
