package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"comanda/internal/bench/load"
	"comanda/internal/catalog"
)

// FloorLimit compares the product's orders with those of the floor, a bare program on the same database.
type FloorLimit struct {
	RoundsLoad // the floor's orders

	Batch   float64    `json:"ordersPerCommit"`
	Product RoundsLoad `json:"product"` // the product's orders, alternating with the floor's
	Rounds  int        `json:"rounds"`
}

// floorRounds is the number of rounds of the product and of the floor. The speed of a shared machine changes within
// seconds, so many short alternating rounds compare better than two long measurements. A round takes half of the usual
// duration; in a shorter round, the simultaneous first orders of all connections would distort the rate.
const floorRounds = 6

// floor measures the product and the floor in turn, with the requests and connections of the best load. The ratio is
// the median of the rounds, so that one disturbed round does not decide it.
func (s *session) floor(ctx context.Context) error {
	if s.Floor != "" {
		return s.compareFloor(ctx, s.Floor, s.FloorPID)
	}
	f, err := openFloor(ctx, s.DatabaseURL, catalog.MaxQuota)
	if err != nil {
		return err
	}
	base, stop, err := serveLocal(ctx, f)
	if err != nil {
		return errors.Join(err, f.close())
	}
	err = s.compareFloor(ctx, base, os.Getpid())
	stop()
	return errors.Join(err, f.close())
}

func (s *session) compareFloor(ctx context.Context, base string, pid int) error {
	floor, stop, err := s.newFloor(base, pid)
	if err != nil {
		return err
	}
	defer stop()
	product := s.newProduct()
	var ratios []float64
	for range floorRounds {
		var reached [2]float64
		for i, c := range []*contender{product, floor} {
			if reached[i], err = s.measureRound(ctx, c); err != nil {
				return err
			}
		}
		ratios = append(ratios, reached[0]/reached[1])
	}
	l := &s.report.Limits
	l.Floor = FloorLimit{
		RoundsLoad: floor.resultPerOrder(), Batch: float64(floor.Orders) / max(1, float64(floor.Commits)),
		Product: product.resultPerOrder(), Rounds: floorRounds,
	}
	l.OverFloor = median(ratios)
	return nil
}

// contender is a program that places orders, with the sum of its rounds.
type contender struct {
	roundsSum
	floorCounts // sum of all rounds, warm-ups included

	name   string
	target load.Target
	pid    int

	product *product // whose orders are sent

	count func(ctx context.Context) (floorCounts, error) // since its start
}

// newProduct returns the server as a contender.
func (s *session) newProduct() *contender {
	return &contender{
		name: "the product", target: s.target, pid: s.PID, product: s.product,
		count: func(ctx context.Context) (floorCounts, error) {
			orders, commits, err := s.countHolds(ctx, 0)
			return floorCounts{orders, commits}, err
		},
	}
}

// newFloor returns the floor as a contender. stop closes its connections.
func (s *session) newFloor(base string, pid int) (floor *contender, stop func(), err error) {
	target, err := load.ParseTarget(base)
	if err != nil {
		return nil, nil, err
	}
	bare := &product{target: target, client: target.Client(askTimeout)}
	floor = &contender{name: "the floor", target: target, pid: pid, product: s.product}
	floor.count = func(ctx context.Context) (n floorCounts, err error) {
		_, err = bare.send(ctx, http.MethodGet, "/", "", http.StatusOK, &n)
		return n, err
	}
	return floor, bare.close, nil
}

// measureRound measures one round and returns its rate. The processor time is divided by all orders, including those of the
// warm-up, and includes deferred work.
func (s *session) measureRound(ctx context.Context, c *contender) (perSecond float64, err error) {
	before, err := c.count(ctx)
	if err != nil {
		return 0, err
	}
	costs := s.cpuUsageOf(ctx, c.pid)
	r := &load.Result{}
	for tries := 0; r.Done == 0; tries++ { // a disk may stall for as long as a short round takes
		if tries == roundTries {
			return 0, fmt.Errorf("%s accepted no order: %s", c.name, loadOf(r, 0).failures())
		}
		plan := c.product.ordering(cmp.Or(s.report.Best().Conns, slices.Max(s.Conns)), c.product.items)
		plan.Target, plan.Warmup, plan.Duration = c.target, s.warmup()/2, s.Duration/2
		if r, err = load.Run(ctx, plan); err != nil {
			return 0, err
		}
	}
	s.settle(ctx)
	c.used = plus(c.used, costs.each(s.cpuUsageOf(ctx, c.pid), 1))
	c.Add(r)
	after, err := c.count(ctx)
	c.Orders += after.Orders - before.Orders
	c.Commits += after.Commits - before.Commits
	return r.PerSecond(), err
}

// resultPerOrder returns the sum of the rounds with the costs of one order.
func (c *contender) resultPerOrder() RoundsLoad {
	t := RoundsLoad{Load: loadOf(&c.Result, 0), CPU: c.used}
	for i := range t.CPU {
		t.CPU[i].Micros /= float64(max(1, c.Orders))
	}
	return t
}
