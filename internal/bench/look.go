package bench

import (
	"context"
	"fmt"
	"os"
	"time"

	"comanda/internal/keyspace"
	"comanda/internal/sqldb"
)

// Waiting for the server between two measurements (B4).
const (
	settleLimit = 30 * time.Second
	settlePoll  = 50 * time.Millisecond
)

// countHolds counts today's holds of the branch since an instant of the deciding clock, and the transactions in which
// they came.
func (s *session) countHolds(ctx context.Context, since int64) (holds, batches int64, err error) {
	rows, err := s.db.Query(ctx, batchCount, s.product.branch, s.product.bizDate, since)
	n, _, err := sqldb.One(rows, err, sqldb.Pair)
	return n[0], n[1], err
}

// settle waits until the server has published, applied and shown everything, and tells how long that took (B4). A
// server whose worker or relay runs elsewhere or not at all is waited for no longer than the limit.
func (s *session) settle(ctx context.Context) time.Duration {
	begin := time.Now()
	tick := time.NewTicker(settlePoll)
	defer tick.Stop()
	for time.Since(begin) < settleLimit {
		rows, err := s.db.Query(ctx, backlogCheck)
		left, _, err := sqldb.One(rows, err, sqldb.Value[int64])
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

// gather brings the statistics by which statements are planned up to date. The database is some seconds old, and plans
// made for empty tables would be kept until the database itself comes to it, after a minute. Any installation that has
// run for longer has them.
func (s *session) gather(ctx context.Context) error {
	_, err := s.db.Exec(ctx, statistics)
	return err
}

// redisFigures is what a Redis of its own says: bytes of the hold that was made in the preparation, bytes of
// everything, and its process. All are 0 where the server has its own store.
type redisFigures struct{ key, used, pid int64 }

func (s *session) askRedis(ctx context.Context) (f redisFigures, err error) {
	if s.redis == nil {
		return f, nil
	}
	record := keyspace.HoldRecord(s.product.branch, s.product.lastID)
	got, err := s.redis.Run(ctx, measureScript, []keyspace.Key{record}, nil).Ints()
	if err == nil && len(got) != 3 {
		err = fmt.Errorf("the script gave %d figures", len(got))
	}
	if err != nil {
		return f, err
	}
	return redisFigures{got[0], got[1], got[2]}, nil
}

// usage is what the processes have used at one moment.
type usage map[string]map[int]time.Duration

// look reads the processor time of everything that works for an order.
func (s *session) look(ctx context.Context) usage {
	groups := []group{{part: "generator", pids: []int{os.Getpid()}}}
	switch s.PID {
	case 0:
	case os.Getpid():
		groups[0].part = "generator and server"
	default:
		groups = append(groups, group{part: "server", pids: []int{s.PID}})
	}
	rows, err := s.db.Query(ctx, processList)
	pids, _ := sqldb.Collect(rows, err, sqldb.Value[int])
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

// each divides what was used since by a number of orders.
func (u usage) each(later usage, orders int64) []Cost {
	var costs []Cost
	for _, part := range []string{"server", "generator and server", "generator", "postgres", "redis"} {
		if used, ok := later[part]; ok && orders > 0 {
			costs = append(costs, Cost{part, float64(since(u[part], used).Microseconds()) / float64(orders)})
		}
	}
	return costs
}
