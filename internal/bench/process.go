package bench

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tick is the kernel's unit of CPU time, a hundredth of a second for all programs (proc(5)).
const tick = 10 * time.Millisecond

// group is the processes of one component. Their names must begin with name, because a process id from inside a
// container may belong to another process here.
type group struct {
	part string
	name string // empty: any
	pids []int
}

// cpu returns the CPU time of the processes of a group; ok is false if it cannot be read.
func (g group) cpu() (used map[int]time.Duration, ok bool) {
	used = map[int]time.Duration{}
	for _, pid := range g.pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // the process has ended, or this is not Linux
		}
		if t, ok := cpuTime(stat, g.name); ok {
			used[pid] = t
		}
	}
	return used, len(used) > 0
}

// cpuTime returns user plus system time, fields 14 and 15 of /proc/pid/stat. The name, field 2, may contain anything.
func cpuTime(stat []byte, prefix string) (time.Duration, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open || !bytes.HasPrefix(stat[open+1:end], []byte(prefix)) {
		return 0, false
	}
	fields := strings.Fields(string(stat[end+1:])) // the first is field 3
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, err1 == nil && err2 == nil
}

// since returns the CPU time between two readings. Processes started in between count in full.
func since(before, after map[int]time.Duration) (total time.Duration) {
	for pid, t := range after {
		total += t - before[pid]
	}
	return total
}

// rss returns the resident memory of a process in bytes; 0 if it cannot be read.
func rss(pid int) int64 {
	if pid == 0 {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	return field(string(status), "VmRSS:") << 10
}

// field returns the number after a name at the beginning of a line.
func field(text, name string) int64 {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			n, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			v, _ := strconv.ParseInt(n, 10, 64)
			return v
		}
	}
	return 0
}

func machine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.Processor = strings.TrimSpace(value)
			break
		}
	}
	return m
}
