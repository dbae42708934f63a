package app

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// mapping is a range of the process's addresses that contains a part of a file.
type mapping struct {
	from, to  uintptr
	file      string // empty without a file
	unwritten bool   // the process cannot write to it, and has no pages of its own in it
}

// readMappings reads the form of /proc/self/smaps; see proc(5). What it cannot read counts as written.
func readMappings(smaps io.Reader) (all []mapping) {
	readOnly := false // the last mapping
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		var m mapping
		var mode, offset, device, inode string
		n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %s %s %s %s", &m.from, &m.to, &mode, &offset, &device, &inode, &m.file)
		if n >= 6 { // the first line of a mapping
			readOnly = !strings.Contains(mode, "w")
			all = append(all, m)
		}
		if own, found := strings.CutPrefix(lines.Text(), "Anonymous:"); found && len(all) > 0 {
			all[len(all)-1].unwritten = readOnly && strings.TrimSpace(own) == "0 kB"
		}
	}
	return all
}

// releaseProgram takes the pages of the program's own file out of the process. The kernel maps 64 kB around each page
// that is read, so after the start 47 MB are resident, of which an idle process uses some 20. The pages stay in the page
// cache, and the next use maps them again without reading the disk. A mapping with written pages is left alone, because
// they would be lost: a position-independent program has such mappings.
func releaseProgram() {
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return // without /proc everything stays as it is
	}
	defer smaps.Close() //nolint:errcheck // it was only read
	all := readMappings(smaps)
	here := reflect.ValueOf(releaseProgram).Pointer()
	self := slices.IndexFunc(all, func(m mapping) bool { return m.from <= here && here < m.to })
	if self < 0 {
		return
	}
	for _, m := range all {
		if m.file == all[self].file && m.unwritten {
			// A failure, for example of locked pages, changes nothing.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
		}
	}
}
