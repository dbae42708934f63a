package app

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// residentFile returns how many kB of files are resident in this process.
func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssFile:")
	line, _, _ := strings.Cut(rest, "kB")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReleaseProgram(t *testing.T) {
	before := residentFile(t)
	releaseProgram()
	if after := residentFile(t); after > before*3/4 {
		t.Errorf("%d of %d kB of files are still resident", after, before)
	}
}

func TestReadMappings(t *testing.T) {
	got := readMappings(strings.NewReader(`00400000-020bf000 r-xp 00000000 fe:00 131 /usr/bin/with a space
Rss:                8128 kB
Anonymous:             0 kB
020bf000-042e0000 r--p 01cbf000 fe:00 131 /usr/bin/with a space
Anonymous:             4 kB
042e0000-04477000 rw-p 03ee0000 fe:00 131 /usr/bin/with a space
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
7ffd1000-7ffd2000 r--p 00000000 00:00 0 [vvar]
Anonymous:             0 kB
7ffd2000-7ffd3000 r-xp 00000000 fe:00 131 /usr/bin/cut
`))
	want := []mapping{
		{0x400000, 0x20bf000, "/usr/bin/with", true},
		{0x20bf000, 0x42e0000, "/usr/bin/with", false},
		{0x42e0000, 0x4477000, "/usr/bin/with", false},
		{0xc000000000, 0xc000400000, "", false},
		{0x7ffd1000, 0x7ffd2000, "[vvar]", true},
		{0x7ffd2000, 0x7ffd3000, "/usr/bin/cut", false},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
