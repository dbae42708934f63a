package app

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/queue"
	"comanda/internal/stock"
	"comanda/internal/telemetry"
)

// metrics holds the metrics of packages that import no driver. The names of the exported series do not follow the code
// when it is renamed: dashboards and alerts use them.
type metrics struct {
	created            *prometheus.CounterVec
	transitions        *prometheus.CounterVec
	callbacks          *prometheus.CounterVec
	steps              *prometheus.CounterVec
	tickets            *prometheus.GaugeVec
	withoutCache       prometheus.Counter
	overruled          prometheus.Counter
	provisionalExpired prometheus.Counter
	drift              prometheus.Gauge
	rebuilds           *prometheus.CounterVec
	rebuildTime        prometheus.Histogram
	stuck              *prometheus.GaugeVec
	refundsDue         prometheus.Gauge
	refundAge          prometheus.Gauge
	ops                backlogGauges
	opsGivenUp         prometheus.Counter
	overdue            *prometheus.GaugeVec
	overdueAge         *prometheus.GaugeVec
	low                *prometheus.GaugeVec
	tries              *prometheus.CounterVec
	ended              *prometheus.CounterVec
	moved              *prometheus.CounterVec
}

// newMetrics registers all metrics, whatever the role, so that every process exports the same series.
func newMetrics(reg prometheus.Registerer) *metrics {
	f := telemetry.Metrics(reg)
	m := &metrics{
		created:     f.Counters("order_created_total", "Requests to place an order, by result.", "result"),
		transitions: f.Counters("order_transition_total", "Changes of orders, by new state and cause.", "to", "cause"),
		callbacks:   f.Counters("payment_callback_total", "Reports about payments, by method and result.", "method", "result"),
		steps:       f.Counters("kitchen_step_total", "Kitchen steps, by kind.", "step"),
		tickets: f.Gauges("kitchen_oldest_ticket_age_seconds",
			"Age of the oldest paid order that is not served, by branch.", "branch"),
		withoutCache: f.Counter("reservation_cold_total", "Orders placed without the admission cache."),
		overruled: f.Counter("reservation_doubted_total",
			"Refusals of the cache that the ledger's counters contradicted."),
		provisionalExpired: f.Counter("reservation_buried_total", "Provisional holds that expired without an order."),
		drift:              f.Gauge("reservation_drift_units", "Units by which the cache differed from the ledger."),
		rebuilds:           f.Counters("redis_rebuild_total", "Rebuilds of a scope of the admission cache, by result.", "result"),
		rebuildTime:        f.Histogram("redis_rebuild_duration_seconds", "Duration of rebuilds."),
		stuck:              f.Gauges("payment_stuck", "Payment attempts that need attention, by state.", "state"),
		refundsDue:         f.Gauge("refund_obligation_open", "Refunds that are not done."),
		refundAge:          f.Gauge("refund_obligation_oldest_age_seconds", "Age of the oldest refund that is not done."),
		ops: backlogGauges{
			pending: f.Gauge("redis_outbox_pending", "Changes that the admission cache has not applied."),
			age:     f.Gauge("redis_outbox_oldest_age_seconds", "Age of the oldest change that the admission cache has not applied."),
			dead: f.Gauge("redis_outbox_dead",
				"Changes that are dead letters, because the admission cache rejected them too often."),
			deadAge: f.Gauge("redis_outbox_dead_oldest_age_seconds", "Time since the first of these dead letters died."),
		},
		opsGivenUp: f.Counter("redis_outbox_given_up_total", "Transactions that became dead letters."),
		overdue:    f.Gauges("hold_overdue", "Holds past their deadline that are not released, by owner.", "of"),
		overdueAge: f.Gauges("hold_overdue_oldest_age_seconds", "Time since the deadline of the oldest overdue hold.", "of"),
		low:        f.Gauges("stock_low_items", "Stock items at or below their low mark, by branch.", "branch"),
		tries:      f.Counters("inventory_try_total", "Requested reservations, by result.", "result"),
		ended:      f.Counters("inventory_ended_total", "Changes of reservations, by new state.", "to"),
		moved: f.Counters("clock_deadlines_moved_total",
			"Deadlines moved because the machine's clock was set, by kind. SQLite only.", "of"),
	}
	for _, r := range []string{triedReserved, triedSame, triedRefused, triedWrong} { // creates the series, for alerts
		m.tries.WithLabelValues(r)
	}
	m.ended.WithLabelValues(endedByTime)
	return m
}

// counting adapts a Prometheus counter to the interface of ordering.
type counting struct{ *prometheus.CounterVec }

// Count adds one.
func (c counting) Count(labels ...string) { c.WithLabelValues(labels...).Inc() }

// orders returns the counters of package ordering.
func (m *metrics) orders() *ordering.Metrics {
	return &ordering.Metrics{
		Created: counting{m.created}, Transition: counting{m.transitions}, Callback: counting{m.callbacks},
		Step: counting{m.steps},
	}
}

// syncer returns an observer that counts. Its functions run in the syncer's goroutines and must not block.
func (m *metrics) syncer() stock.Observer {
	return stock.Observer{
		Cold:         m.withoutCache.Inc,
		Overruled:    m.overruled.Inc,
		Expired:      func(n int) { m.provisionalExpired.Add(float64(n)) },
		Drift:        func(units int64) { m.drift.Set(float64(units)) },
		DeadLettered: func(n int) { m.opsGivenUp.Add(float64(n)) },
		Rebuilt: func(took time.Duration, err error) {
			result := "ok"
			if err != nil {
				result = "failed"
			}
			m.rebuilds.WithLabelValues(result).Inc()
			m.rebuildTime.Observe(took.Seconds())
		},
	}
}

// Labels for the results of a requested reservation, and for one that expired without a confirmation.
const (
	triedReserved = "reserved"
	triedSame     = "same" // requested before
	triedRefused  = "refused"
	triedWrong    = "wrong" // the id belongs to another request, or has ended
	endedByTime   = "expired"
)

// decided counts committed commands of other systems. It is called after the commit with one result for each command.
// It must not block.
func (m *metrics) decided(demands []stock.Command, results []stock.CommandResult) {
	for i, d := range demands {
		r := results[i]
		switch {
		case d.Action == stock.Try:
			m.tries.WithLabelValues(tried(r)).Inc()
		case !r.Changed:
		case d.Action == stock.Expire:
			m.ended.WithLabelValues(endedByTime).Inc()
		default:
			m.ended.WithLabelValues(strings.ToLower(string(r.Reservation.Status))).Inc()
		}
	}
}

// tried returns the label of a requested reservation's result.
func tried(r stock.CommandResult) string {
	switch {
	case r.Changed:
		return triedReserved
	case r.Err == nil:
		return triedSame
	case fault.KindOf(r.Err) == fault.SoldOut:
		return triedRefused
	}
	return triedWrong
}

// backlogGauges export the backlog of an outbox table. A nil gauge is not exported.
type backlogGauges struct{ pending, age, dead, deadAge prometheus.Gauge }

// measure sets the gauges to a backlog, unless it could not be read.
func (g backlogGauges) measure(b queue.Backlog, err error) error {
	if err != nil {
		return err
	}
	for gauge, value := range map[prometheus.Gauge]float64{
		g.pending: float64(b.Pending), g.age: b.Age.Seconds(), g.dead: float64(b.Dead), g.deadAge: b.DeadAge.Seconds(),
	} {
		if gauge != nil {
			gauge.Set(value)
		}
	}
	return nil
}

// batched is a group commit.
type batched interface {
	Stats() (batches, ops int64)
	Waiting() int
}

// exportGroup exports the figures of a group commit.
func exportGroup(reg prometheus.Registerer, name string, g batched) {
	f := telemetry.Metrics(prometheus.WrapRegistererWith(prometheus.Labels{"group": name}, reg))
	f.CounterFunc("group_commit_batches_total", "Transactions shared by several requests.", func() float64 {
		batches, _ := g.Stats()
		return float64(batches)
	})
	f.CounterFunc("group_commit_requests_total", "Requests committed in shared transactions.", func() float64 {
		_, ops := g.Stats()
		return float64(ops)
	})
	f.GaugeFunc("group_commit_waiting", "Requests waiting for a shared transaction.",
		func() float64 { return float64(g.Waiting()) })
}
