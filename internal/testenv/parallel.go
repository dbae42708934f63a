package testenv

import (
	"flag"
	"strconv"
)

// Parallel sets how many tests of a package run at the same time. It suits tests that mostly wait for other processes,
// so that more of them than processors may run. The flag -parallel of go test overrides it. TestMain calls it. It must
// be called before m.Run, which reads the flag.
func Parallel(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // package testing has defined the flag
	}
}
