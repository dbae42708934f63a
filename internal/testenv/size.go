package testenv

import (
	"flag"
	"os"
	"strconv"
	"sync"
	"testing"
)

// Size returns the size of a test: quick in every run, soak if COMANDA_TEST_SOAK=1, as make soak sets it. quick is the
// smallest size that still proves the rule, because every change waits for it. soak is the load of an exceptional day,
// tested before a release.
func Size(quick, soak int) int {
	if os.Getenv("COMANDA_TEST_SOAK") == "1" {
		return soak
	}
	return quick
}

// Sequences sets the number of random sequences that rapid tries in a package whose steps are transactions on a real
// engine. The flag -rapid.checks overrides it. TestMain calls it.
func Sequences(n int) {
	flag.Parse()
	if !sequencesGiven() {
		_ = flag.Set("rapid.checks", strconv.Itoa(n)) // rapid has defined the flag
	}
}

// SequencesOf is Sequences for one test whose sequences are longer than the package's. The flag is one for the whole
// process, so such a test must not run in parallel with others that use rapid.
func SequencesOf(t testing.TB, n int) {
	t.Helper()
	if sequencesGiven() {
		return
	}
	was := flag.Lookup("rapid.checks").Value.String()
	_ = flag.Set("rapid.checks", strconv.Itoa(n))
	t.Cleanup(func() { _ = flag.Set("rapid.checks", was) })
}

// sequencesGiven reports whether the command line has -rapid.checks. It must be called before the flag is set.
var sequencesGiven = sync.OnceValue(func() bool {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	return given
})
