package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"comanda/internal/keyspace"
	"comanda/internal/sqldb"
)

// Limits of waiting for the server between two measurements (B4). The limit is several times what a server needs for the
// backlog of the longest measurement; the poll is rare enough to cost nothing beside that work.
const (
	settleLimit = 30 * time.Second
	settlePoll  = 50 * time.Millisecond
)

// countHolds returns today's holds of the branch since an instant of the database's clock, and the transactions that
// created them.
func (s *session) countHolds(ctx context.Context, since int64) (holds, batches int64, err error) {
	return s.product.countHolds(ctx, s.db, since)
}

func (p *product) countHolds(ctx context.Context, db *sqldb.DB, since int64) (holds, batches int64, err error) {
	n, _, err := sqldb.One(ctx, db, sqldb.Pair, stmt("batch_count"), p.branch, p.bizDate, since)
	return n[0], n[1], err
}

// settle waits until the server has published and applied all events, and returns how long that took (B4). It waits at
// most settleLimit, because the server's worker or relay may run elsewhere or not at all. After an error it stops
// waiting: the next measurement will report that the database is unavailable.
func (s *session) settle(ctx context.Context) time.Duration {
	begin := time.Now()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for time.Since(begin) < settleLimit {
		left, err := sqldb.Scalar[int64](ctx, s.db, stmt("backlog_check"))
		if err != nil || left == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return time.Since(begin)
		}
	}
	return time.Since(begin)
}

// analyze updates the planner statistics of PostgreSQL. The database is a few seconds old, and plans for empty tables would
// be kept until autovacuum analyzes it after a minute; installations that have run longer have statistics. On SQLite nothing
// gathers statistics, in installations neither.
func (s *session) analyze(ctx context.Context) error {
	if s.db.Engine() == sqldb.SQLite {
		return nil
	}
	_, err := s.db.Exec(ctx, stmt("statistics_gather"))
	return err
}

// redisFigures are figures of an external Redis: the bytes of the hold created in the preparation, the bytes of all data,
// and its process id. All are 0 for an embedded store.
type redisFigures struct{ key, used, pid int64 }

// askRedis reads all three figures with one script, so that they are of one moment.
func (s *session) askRedis(ctx context.Context) (f redisFigures, err error) {
	if s.redis == nil {
		return f, nil
	}
	record := keyspace.HoldRecord(s.product.branch, s.product.lastID)
	got, err := s.redis.Run(ctx, measureScript, []keyspace.Key{record}, nil).Ints()
	if err == nil && len(got) != 3 {
		err = fmt.Errorf("the script returned %d values", len(got))
	}
	if err != nil {
		return f, err
	}
	return redisFigures{got[0], got[1], got[2]}, nil
}

// usage is the CPU time of all processes at one moment.
type usage map[string]map[int]time.Duration

// cpuUsage reads the CPU time of all processes that handle orders. It leaves out a part that cannot be read, such as a
// database on another machine.
func (s *session) cpuUsage(ctx context.Context) usage { return s.cpuUsageOf(ctx, s.PID) }

// cpuUsageOf is cpuUsage with another server in place of the product.
func (s *session) cpuUsageOf(ctx context.Context, server int) usage {
	groups := []group{{part: "generator", pids: []int{os.Getpid()}}}
	switch server {
	case 0:
	case os.Getpid():
		groups[0].part = "generator and server"
	default:
		groups = append(groups, group{part: "server", pids: []int{server}})
	}
	pids, _ := sqldb.Collect(ctx, s.db, sqldb.Value[int], stmt("process_list"))
	groups = append(groups, group{part: "postgres", name: "postgres", pids: pids})
	if f, err := s.askRedis(ctx); err == nil && f.pid > 0 {
		groups = append(groups, group{part: "redis", pids: []int{int(f.pid)}})
	}
	u := usage{}
	for _, g := range groups {
		if used, ok := g.cpu(); ok {
			u[g.part] = used
		}
	}
	return u
}

// each divides the difference of two usages by a number of orders. Parts that the later usage does not have are left
// out. The order of the parts is that of the report.
func (u usage) each(later usage, orders int64) []Cost {
	var costs []Cost
	for _, part := range []string{"server", "generator and server", "generator", "postgres", "redis"} {
		if used, ok := later[part]; ok && orders > 0 {
			costs = append(costs, Cost{part, float64(since(u[part], used).Microseconds()) / float64(orders)})
		}
	}
	return costs
}

// group contains the processes of one component. Their names must begin with name, because a process id from inside a
// container may belong to another process here. PostgreSQL has one process per connection.
type group struct {
	part string
	name string // empty: any
	pids []int
}

// cpu returns the CPU time of the processes of a group; ok is false if it cannot be read. The kernel reports
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
