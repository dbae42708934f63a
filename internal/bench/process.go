package bench

import (
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// group is the processes of one component. Their names must begin with name, because a process id from inside a
// container may belong to another process here. PostgreSQL has one process per connection.
type group struct {
	part string
	name string // empty: any
	pids []int
}

// cpu returns the CPU time of the processes of a group; ok is false if it cannot be read. The kernel counts it in
// hundredths of a second.
func (g group) cpu() (used map[int]time.Duration, ok bool) {
	used = map[int]time.Duration{}
	for _, pid := range g.pids {
		if s, ok := stat(pid); ok && strings.HasPrefix(s.Comm, g.name) {
			used[pid] = time.Duration(s.CPUTime() * float64(time.Second))
		}
	}
	return used, len(used) > 0
}

// stat returns the kernel's figures of a process; ok is false if it has ended, or if this is not Linux.
func stat(pid int) (s procfs.ProcStat, ok bool) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return s, false
	}
	s, err = p.Stat()
	return s, err == nil
}

// rss returns the resident memory of a process in bytes; 0 if it cannot be read.
func rss(pid int) int64 {
	s, _ := stat(pid)
	return int64(s.ResidentMemory())
}

// since returns the CPU time between two readings. Processes started in between count in full. Processes that have
// ended in between are not counted, so short-lived ones make the sum too low.
func since(before, after map[int]time.Duration) (total time.Duration) {
	for pid, t := range after {
		total += t - before[pid]
	}
	return total
}

// machine describes this machine for the report. What cannot be read stays empty.
func machine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH}
	info, _ := os.ReadFile("/proc/cpuinfo") // missing on other systems than Linux; procfs has it on Linux only
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.Processor = strings.TrimSpace(value)
			break
		}
	}
	return m
}
