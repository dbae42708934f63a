package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Text writes the report as tables. Programs should use its JSON.
func (r Report) Text(w io.Writer) {
	r.heading(w)
	r.product(w)
	r.limits(w)
	r.costs(w)
}

func (r Report) heading(w io.Writer) {
	fmt.Fprintf(w, "Comanda benchmark, %s: %d x %s, %s, %s; %s; Redis %s; %g s each\n\n",
		r.At.Format("2006-01-02 15:04 UTC"), r.Machine.Cores, r.Machine.Processor, r.Machine.OS, r.Machine.Go,
		r.Database, r.Redis, r.Seconds)
}

// product writes the results of the product, one line per measurement.
func (r Report) product(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "over HTTP\tconnections\tper second\tp50 ms\tp95 ms\tp99 ms\tmax ms\tbody bytes\terrors\t")
	for _, o := range r.Orders {
		o.line(t, "orders")
	}
	r.Half.line(t, fmt.Sprintf("orders paced at %.0f/s", r.Half.Rate))
	r.Refusals.line(t, "refusals")
	r.Menu.line(t, "menus")
	r.Compressed.line(t, "menus, gzip")
	r.Unchanged.line(t, "menus, 304")
	if m := r.Members; m != nil {
		m.Read.line(t, "carts read")
		m.Change.line(t, "carts changed")
		m.Checkouts.line(t, "checkouts")
		m.Orders.line(t, "orders of one dish")
	}
	if n := r.Notices; n != nil {
		n.First.line(t, "payments reported")
		n.Again.line(t, "payments reported again")
	}
	if i := r.Reservations; i != nil {
		i.Try.line(t, "reservations")
		i.Turn.line(t, "reservations and sales")
		i.Read.line(t, "inventory read")
	}
	r.Limits.Echo.line(t, "limit: echo")
	_ = t.Flush()
	if m := r.Members; m != nil {
		fmt.Fprintf(w, "checkouts in %d rounds: %.2f of orders of one dish; a checkout takes%s, an order%s\n",
			m.Rounds, m.Ratio, micros(m.Checkouts.CPU), micros(m.Orders.CPU))
	}
	if n := r.Notices; n != nil {
		fmt.Fprintf(w, "a report of a payment takes%s, a repetition%s\n", micros(n.First.CPU), micros(n.Again.CPU))
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
	_ = t.Flush()
}

// costs writes the CPU time and memory per order.
func (r Report) costs(w io.Writer) {
	fmt.Fprintf(w, "\nwhat an order takes\n")
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
		const mb = 1 << 20
		fmt.Fprintf(w, "server: %.1f MB resident when idle, %.1f MB after the load\n",
			float64(m.IdleRSS)/mb, float64(m.LoadedRSS)/mb)
	}
}
