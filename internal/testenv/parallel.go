package testenv

import (
	"flag"
	"strconv"
)

// Parallel sets how many tests of a package run side by side where each waits for other processes most of the time, so
// that there may be more of them than processors. The flag -parallel of go test overrides it. TestMain calls it.
func Parallel(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // testing has defined the flag
	}
}
