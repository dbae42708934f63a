package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/account/accountsql"
	"comanda/internal/clock"
	"comanda/internal/document/documentsql"
	"comanda/internal/event/outbox"
	"comanda/internal/mail/mailsql"
	"comanda/internal/mailing/mailingsql"
	"comanda/internal/notice/noticesql"
	"comanda/internal/payment/paymentsql"
	"comanda/internal/sqldb"
	"comanda/internal/stock/stocksql"
	"comanda/internal/telemetry"
	"comanda/internal/visit/visitsql"
	"comanda/internal/worker"
)

// clockInterval is the interval of measurements while the clock is not in doubt. Only a measurement detects that a
// virtual machine was paused, because its own clocks do not show it.
const clockInterval = 10 * time.Second

// clockWait is how long a request waits for a measurement. After that, orders are accepted without one.
const clockWait = time.Second

// clockLoop measures the deciding clock. Every process runs it, because processes compare times with each other. It
// also runs while the schema is too new, when all guarded loops rest.
func (k *Core) clockLoop() worker.Loop {
	return worker.Loop{
		Name: "clock", Run: k.DB.Clock().Measure, Every: clockInterval, Timeout: 4 * time.Second, MaxPause: time.Second,
	}
}

// awaitClock returns a function that waits up to clockWait while the time is in doubt, because deadlines set meanwhile
// might be wrong.
func awaitClock(c *clock.Clock) func(context.Context) {
	return func(ctx context.Context) {
		if c.Reliable() {
			return // nearly always: no timer is needed
		}
		ctx, cancel := context.WithTimeout(ctx, clockWait)
		defer cancel()
		_ = c.Await(ctx) // on a time-out the request continues with the current time
	}
}

// whenReliable wraps a loop that expires something. It skips rounds while the time is in doubt; the next round does
// the work.
func whenReliable(c *clock.Clock, l worker.Loop) worker.Loop {
	return skipping(l, func() bool { return !c.Reliable() })
}

// skipping wraps a loop so that its rounds do nothing while skip returns true.
func skipping(l worker.Loop, skip func() bool) worker.Loop {
	run := l.Run
	l.Run = func(ctx context.Context) error {
		if skip() {
			return nil
		}
		return run(ctx)
	}
	return l
}

// exportClock exports the state of the deciding clock. Each gauge reads the clock when it is scraped.
func exportClock(reg prometheus.Registerer, c *clock.Clock) {
	f := telemetry.Metrics(reg)
	steps := func(of, direction string, n func(clock.Steps) int) {
		labels := prometheus.Labels{"clock": of, "direction": direction}
		telemetry.Metrics(prometheus.WrapRegistererWith(labels, reg)).CounterFunc("clock_steps_total",
			"Detected steps of a clock: the machine's or the deciding one.",
			func() float64 { return float64(n(c.State().Steps)) })
	}
	f.GaugeFunc("clock_offset_seconds", "Offset of the deciding clock from this process's.",
		func() float64 { return c.State().Offset.Seconds() })
	f.GaugeFunc("clock_uncertainty_seconds", "Maximum error of the last measurement of the deciding clock.",
		func() float64 { return c.State().Uncertainty.Seconds() })
	f.GaugeFunc("clock_measurement_age_seconds", "Time since the last measurement of the deciding clock.",
		func() float64 { return c.State().Age.Seconds() })
	f.GaugeFunc("clock_settled", "1 while deadlines are enforced by the deciding clock, 0 while it is in doubt.",
		func() float64 { return telemetry.Truth(c.State().Reliable) })
	steps("machine", "any", func(s clock.Steps) int { return s.Machine })
	steps("deciding", "forward", func(s clock.Steps) int { return s.Forward })
	steps("deciding", "back", func(s clock.Steps) int { return s.Back })
}

// movers returns the functions that move each package's deadlines with the deciding clock. Three kinds of times are
// not moved: times that the staff chose, such as the end of a pause, because they are times of day; times of past
// events; and periods of days.
func (k *Core) movers() []mover {
	return []mover{
		{"holds", stocksql.MoveDeadlines},
		{"orders", func(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
			return k.Ledger.MoveDeadlines(ctx, tx, by, k.DB.Now().Add(by))
		}},
		{"payments", paymentsql.MoveDeadlines},
		{"visits", visitsql.MoveDeadlines},
		{"codes", accountsql.MoveDeadlines},
		{"letters", mailsql.MoveDeadlines},
		{"mailings", mailingsql.MoveDeadlines},
		{"push", noticesql.MoveDeadlines},
		{"events", outbox.MoveDeadlines},
		{"documents", documentsql.MoveDeadlines},
	}
}

// mover moves the deadlines of one package; of is the label of its metric.
type mover struct {
	of   string
	move func(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error)
}

// moveDeadlines implements clock.Move on SQLite: everything open keeps its remaining time. SQLite has one writer at a
// time, and this transaction sets the time before the next one begins. So a transaction that reads the time itself
// never compares a moved deadline with the old time, or the reverse. Closing idle visits reads the time before its
// transaction, so k.moving excludes it.
func (k *Core) moveDeadlines(ctx context.Context, by time.Duration, set func()) error {
	k.moving.Lock()
	defer k.moving.Unlock()
	counts := map[string]int64{}
	err := k.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		for _, m := range k.movers() {
			n, err := m.move(ctx, tx, by)
			if err != nil {
				return err
			}
			// The count is assigned and not added, because Write may run this function again.
			counts[m.of] = n
		}
		set()
		return nil
	})
	if err != nil {
		return err
	}
	for of, n := range counts {
		k.Metrics.moved.WithLabelValues(of).Add(float64(n))
	}
	k.Log.WarnContext(ctx, "the clock was set; open deadlines were moved", "by", by,
		"orders", counts["orders"], "holds", counts["holds"], "visits", counts["visits"])
	return nil
}

// excludingMoves keeps deadlines from moving during a round that reads the time before its transaction.
func (k *Core) excludingMoves(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		k.moving.RLock()
		defer k.moving.RUnlock()
		return run(ctx)
	}
}
