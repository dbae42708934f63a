package testenv

import (
	"flag"
	"strconv"
)

// Searches gives how many random sequences a test tries: under the race detector, which makes each several times slower
// and looks for something else than wrong results, a quarter.
func Searches(n int) int {
	if raced {
		return max(1, n/4)
	}
	return n
}

// Sequences lets rapid try so many random sequences instead of its hundred in the tests of a package where each step is
// a transaction on a real engine, see Searches. A longer search is asked for with -rapid.checks. It is called by TestMain.
func Sequences(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		_ = flag.Set("rapid.checks", strconv.Itoa(Searches(n))) // rapid has defined it
	}
}
