package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"comanda/internal/bench/load"
)

// Report is the result of a run. It is also the output of "comanda bench" as JSON. Optional parts that were not
// measured are missing.
type Report struct {
	At       time.Time `json:"at"`
	Machine  Machine   `json:"machine"`
	Database string    `json:"database"`
	Redis    string    `json:"redis"`
	Seconds  float64   `json:"secondsPerMeasurement"`
	History  *History  `json:"history,omitempty"`

	Orders     []OrderLoad `json:"orders"`                          // at full speed, by number of connections
	Half       Load        `json:"halfLoad"`                        // paced at half of the best rate, latency from the due time
	Sales      *Load       `json:"salesReportAtHalfLoad,omitempty"` // of a year, while orders are paced
	Refusals   Load        `json:"refusals"`                        // orders of a sold-out dish
	Menu       Load        `json:"menu"`                            // bodies, plain
	Compressed Load        `json:"menuCompressed"`                  // bodies, compressed as browsers request them
	Unchanged  Load        `json:"menuUnchanged"`                   // 304 instead of a body
	OverEcho   EchoRatios  `json:"overEcho"`

	Options *OptionLoads `json:"options,omitempty"`
	Members *MemberLoads `json:"members,omitempty"`
	Notices *NoticeLoads `json:"notices,omitempty"`

	Reservations *ReservationLoads `json:"reservations,omitempty"`

	Streams *StreamLoads `json:"streams,omitempty"`

	Parts *PartLoad `json:"parts,omitempty"`

	Limits Limits `json:"limits"`
	Memory Memory `json:"memory"`
}

// Machine describes the machine of the run.
type Machine struct {
	Processor string `json:"processor"`
	Cores     int    `json:"cores"`
	Go        string `json:"go"`
	OS        string `json:"os"`
}

// Load is one measurement over HTTP. Errors counts by kind, such as "status 503"; requests without a response are among
// them.
type Load struct {
	Conns     int              `json:"connections"`
	Rate      float64          `json:"pacedPerSecond,omitempty"` // 0: at full speed
	PerSecond float64          `json:"perSecond"`
	P50       float64          `json:"p50Ms"`
	P95       float64          `json:"p95Ms"`
	P99       float64          `json:"p99Ms"`
	Max       float64          `json:"maxMs"`
	BodyBytes float64          `json:"bodyBytes"` // per response
	Errors    map[string]int64 `json:"errors,omitempty"`
}

// OrderLoad is a measurement of orders with its costs.
type OrderLoad struct {
	Load
	Batches Batches `json:"batches"`
	CPU     []Cost  `json:"cpu,omitempty"`
	Drain   float64 `json:"drainSeconds"` // from the last response until every event was published and applied
}

// Batches are batch sizes; 0 if unknown.
type Batches struct {
	Commit float64 `json:"ordersPerCommit"`
	Try    float64 `json:"ordersPerTry"`
	Held   float64 `json:"ordersPerHeld"`
	Cold   float64 `json:"withoutGate"` // share of orders that the admission cache could not decide
}

// Cost is the CPU time per order in one process.
type Cost struct {
	Process string  `json:"process"`
	Micros  float64 `json:"microsPerOrder"`
}

// Limits are the raw limits of the machine: each stage alone, all of them in sequence, and a bare program that keeps
// orders.
type Limits struct {
	Echo    Load    `json:"echo"`
	Script  Rate    `json:"script"`
	Commit  Rate    `json:"commit"`
	Implied float64 `json:"impliedPerSecond"` // 1 / (1/echo + 1/script + 1/commit)
	Ratio   float64 `json:"productOverImplied"`

	Floor     FloorLimit `json:"floor"`
	OverFloor float64    `json:"productOverFloor"` // median of the rounds
}

// Rate is a raw limit.
type Rate struct {
	PerSecond float64 `json:"perSecond"`
	Batch     float64 `json:"ordersPerBatch"`
}

// Memory is the memory per order, and the server's own.
type Memory struct {
	HoldKey   int64   `json:"redisBytesPerHoldKey"`           // MEMORY USAGE of one hold's record
	Hold      float64 `json:"redisBytesPerHold"`              // growth of the data per new hold
	IdleRSS   int64   `json:"serverIdleBytes,omitempty"`      // RSS before the first request
	LoadedRSS int64   `json:"serverAfterLoadBytes,omitempty"` // RSS after the last request
}

// Best returns the load with the highest throughput. Without any load it is the zero value.
func (r Report) Best() OrderLoad {
	var best OrderLoad
	for _, o := range r.Orders {
		if o.PerSecond > best.PerSecond {
			best = o
		}
	}
	return best
}

// loadOf converts a result. rate is 0 for a load at full speed.
func loadOf(r *load.Result, rate float64) Load {
	l := Load{
		Conns: r.Conns, Rate: rate, PerSecond: r.PerSecond(), Errors: r.Errors,
		P50: millis(r.Latencies.Quantile(0.50)), P95: millis(r.Latencies.Quantile(0.95)),
		P99: millis(r.Latencies.Quantile(0.99)), Max: millis(r.Latencies.Max()),
	}
	if r.Done > 0 {
		l.BodyBytes = float64(r.Bytes) / float64(r.Done)
	}
	return l
}

const mb = 1 << 20

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// imply computes the limit of all stages in sequence; it is unknown if a stage was not measured.
func (l *Limits) imply(product float64) {
	if l.Echo.PerSecond <= 0 || l.Script.PerSecond <= 0 || l.Commit.PerSecond <= 0 {
		return
	}
	l.Implied = 1 / (1/l.Echo.PerSecond + 1/l.Script.PerSecond + 1/l.Commit.PerSecond)
	l.Ratio = product / l.Implied
}

// Text writes the report as tables. Programs should use its JSON.
func (r Report) Text(w io.Writer) {
	r.heading(w)
	if r.Parts != nil { // then nothing else was measured
		r.Parts.text(w)
		return
	}
	r.product(w)
	r.limits(w)
	r.costs(w)
}

func (r Report) heading(w io.Writer) {
	fmt.Fprintf(w, "Comanda benchmark, %s: %d x %s, %s, %s; %s; Redis %s; %g s each\n",
		r.At.Format("2006-01-02 15:04 UTC"), r.Machine.Cores, r.Machine.Processor, r.Machine.OS, r.Machine.Go,
		r.Database, r.Redis, r.Seconds)
	if h := r.History; h != nil {
		fmt.Fprintf(w, "history: %d orders in %d branches with %d dishes on %d business dates, %.0f MB; "+
			"written in %.1f s, the server ready in %.2f s, its documents complete in %.1f s\n",
			h.Orders, h.Branches, h.Dishes, h.Dates, float64(h.Bytes)/mb, h.Seconds, h.Start, h.Documents)
	}
	fmt.Fprintln(w)
}

// product writes the results of the product, one line per measurement.
func (r Report) product(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "over HTTP\tconnections\tper second\tp50 ms\tp95 ms\tp99 ms\tmax ms\tbody bytes\terrors\t")
	for _, o := range r.Orders {
		o.line(t, "orders")
	}
	r.Half.line(t, fmt.Sprintf("orders paced at %.0f/s", r.Half.Rate))
	if r.Sales != nil {
		r.Sales.line(t, "reports of a year meanwhile")
	}
	r.Refusals.line(t, "refusals")
	r.Menu.line(t, "menus")
	r.Compressed.line(t, "menus, gzip")
	r.Unchanged.line(t, "menus, 304")
	if o := r.Options; o != nil {
		o.Without.line(t, "orders, in turn with options")
		o.With.line(t, "orders with options")
		o.Menu.line(t, "menus with options, gzip")
	}
	if m := r.Members; m != nil {
		m.Read.line(t, "carts read")
		m.Change.line(t, "carts changed")
		m.Checkouts.line(t, "checkouts")
		m.Orders.line(t, "orders of one dish")
	}
	if n := r.Notices; n != nil {
		n.First.line(t, "payments reported")
		n.Again.line(t, "payments reported again")
		n.Orders.line(t, "orders, in turn with payments")
	}
	if i := r.Reservations; i != nil {
		i.Try.line(t, "reservations")
		i.Alternating.line(t, "reservations and sales")
		i.Read.line(t, "inventory read")
	}
	r.Limits.Echo.line(t, "limit: echo")
	r.Limits.Floor.line(t, "limit: floor")
	r.Limits.Floor.Product.line(t, "orders in turn with it")
	_ = t.Flush()
	e := r.OverEcho
	fmt.Fprintf(w, "in turn with the echo: refusals %.2f of it, menus %.2f, gzip %.2f, 304 %.2f; medians of %d rounds\n",
		e.Refusals, e.Menu, e.Compressed, e.Unchanged, alternateRounds)
	if o := r.Options; o != nil {
		fmt.Fprintf(w, "options: an order of three lines with two options each takes %.2f of the time of one without, median of "+
			"%d rounds:%s instead of%s; a compressed menu has %.2f of the bytes\n",
			o.Ratio, o.Rounds, micros(o.With.CPU), micros(o.Without.CPU), o.MenuRatio)
	}
	if m := r.Members; m != nil {
		fmt.Fprintf(w, "checkouts in %d rounds: %.2f of orders of one dish; a checkout takes%s, an order%s\n",
			m.Rounds, m.Ratio, micros(m.Checkouts.CPU), micros(m.Orders.CPU))
	}
	if i := r.Reservations; i != nil {
		fmt.Fprintf(w, "a reservation takes%s and %.0f bytes of Redis\n", micros(i.Try.CPU), i.Memory)
	}
	if l := r.Streams; l != nil {
		fmt.Fprintf(w, "%d live streams, open in %.1f s, %.1f kB each; while nothing changes they take%s a second\n",
			l.Streams, l.Opening, l.Bytes/1000, micros(l.Idle))
		for _, d := range []struct {
			name string
			StreamDelay
		}{{"a changed menu", l.Menu}, {"a changed order", l.Orders}} {
			fmt.Fprintf(w, "%s: %d changes, %d events (%d missing) after p50 %.1f, p99 %.1f, at most %.1f ms; a change takes%s\n",
				d.name, d.Changes, d.Events, d.Missing, d.P50, d.P99, d.Max, micros(d.CPU))
		}
	}
	if n := r.Notices; n != nil {
		fmt.Fprintf(w, "payments in %d rounds: %.2f of orders, median; a report of a payment takes%s, a repetition%s\n",
			n.Rounds, n.Ratio, micros(n.First.CPU), micros(n.Again.CPU))
	}
}

// micros formats CPU time by process.
func micros(costs []Cost) string {
	var b strings.Builder
	for _, c := range costs {
		fmt.Fprintf(&b, " %s %.0f µs", c.Process, c.Micros)
	}
	return b.String()
}

func (l Load) line(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%s\t\n",
		name, l.Conns, l.PerSecond, l.P50, l.P95, l.P99, l.Max, l.BodyBytes, l.failures())
}

func (l Load) failures() string {
	if len(l.Errors) == 0 {
		return "none"
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(l.Errors)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", l.Errors[kind], kind))
	}
	return strings.Join(kinds, ", ")
}

// limits writes the product's results beside the raw limits.
func (r Report) limits(w io.Writer) {
	best, l := r.Best(), r.Limits
	fmt.Fprintf(w, "\nlimits of this machine, orders per second\n")
	t := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  echo\t%.0f\tdecode and encode, %d connections\n", l.Echo.PerSecond, l.Echo.Conns)
	fmt.Fprintf(t, "  script\t%.0f\tTRY and HELD, %.1f orders per TRY\n", l.Script.PerSecond, l.Script.Batch)
	fmt.Fprintf(t, "  commit\t%.0f\tall rows of an order, %.0f orders per commit\n", l.Commit.PerSecond, l.Commit.Batch)
	fmt.Fprintf(t, "  implied\t%.0f\t1 / (1/echo + 1/script + 1/commit)\n", l.Implied)
	fmt.Fprintf(t, "  product\t%.0f\t%.2f of the implied limit, at %d connections\n", best.PerSecond, l.Ratio, best.Conns)
	fmt.Fprintf(t, "  floor\t%.0f\tone order, its lines, counters and an event, %.0f orders per commit\n",
		l.Floor.PerSecond, l.Floor.Batch)
	fmt.Fprintf(t, "  in turn\t%.0f\tthe product, %.2f of the floor, median of %d rounds\n",
		l.Floor.Product.PerSecond, l.OverFloor, l.Floor.Rounds)
	_ = t.Flush()
	fmt.Fprintf(w, "an order takes%s, one of the floor%s\n", micros(l.Floor.Product.CPU), micros(l.Floor.CPU))
}

// costs writes the CPU time and memory per order.
func (r Report) costs(w io.Writer) {
	fmt.Fprintf(w, "\ncost of an order\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "connections\torders per commit\tper TRY\tper HELD\twithout Redis\tdrained after s\t")
	for _, c := range r.Best().CPU {
		fmt.Fprintf(t, "%s µs\t", c.Process)
	}
	fmt.Fprintln(t)
	for _, o := range r.Orders {
		b := o.Batches
		fmt.Fprintf(t, "%d\t%.1f\t%.1f\t%.1f\t%.1f %%\t%.2f\t", o.Conns, b.Commit, b.Try, b.Held, 100*b.Cold, o.Drain)
		for _, c := range o.CPU {
			fmt.Fprintf(t, "%.0f\t", c.Micros)
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush()
	if m := r.Memory; m.HoldKey > 0 {
		fmt.Fprintf(w, "\nRedis: %d bytes in a hold's key, %.0f bytes for a live hold in all\n", m.HoldKey, m.Hold)
	}
	if m := r.Memory; m.IdleRSS > 0 {
		fmt.Fprintf(w, "server: %.1f MB resident when idle, %.1f MB after the load\n",
			float64(m.IdleRSS)/mb, float64(m.LoadedRSS)/mb)
	}
}
