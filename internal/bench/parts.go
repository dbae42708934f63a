package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"
	"golang.org/x/sync/errgroup"

	"comanda/internal/bench/load"
	"comanda/internal/clock"
)

// PartLoad is the server's processor time of an order by part, and the floor's. Only work that was done while orders arrived
// is in it: not documents that wait until the server is less busy.
type PartLoad struct {
	Orders int64   `json:"orders"`         // placed while profiles of the server ran
	Floor  float64 `json:"floorMicros"`    // processor time of an order of the floor, measured between the profiles
	Sum    float64 `json:"microsPerOrder"` // of all parts
	Parts  []Part  `json:"parts"`          // the largest first
}

// Part is one part of an order.
type Part struct {
	Name    string  `json:"part"`
	Micros  float64 `json:"microsPerOrder"`
	OfFloor float64 `json:"ofFloor"` // in orders of the floor: it depends less on the machine than the time
	Samples int64   `json:"samples"` // of the profile; a part with few samples is only roughly known

	FloorMicros float64 `json:"floorMicros"` // the same part of an order of the floor
}

// The parts. partOf assigns each sample to one of them.
const (
	partHTTP      = "HTTP"
	partCodec     = "decode and encode"
	partIdentity  = "identity and limits"
	partPrice     = "price"
	partAdmission = "admission"
	partDecide    = "decide"
	partRows      = "encode rows"
	partDriver    = "driver"
	partDocuments = "documents"
	partRelay     = "relay"
	partLog       = "log and metrics"
	partLoops     = "other loops"
	partGC        = "garbage collector"
	partScheduler = "scheduler"
	partOther     = "other"
)

// background are functions and packages whose whole work belongs to one part, whatever they call. The first that is
// anywhere in a stack decides.
var background = []struct{ prefix, part string }{
	{"comanda/internal/document", partDocuments},
	{"comanda/internal/event/outbox", partRelay},
	{"comanda/internal/event/inbox", partRelay},
	{"comanda/internal/event/bus", partRelay},
	{"comanda/internal/event/rabbit", partRelay},
	{"comanda/internal/stock.(*Syncer)", partAdmission},
	{"github.com/redis/rueidis", partAdmission},
	{"comanda/internal/worker", partLoops},
	{"runtime.gcBgMarkWorker", partGC},
	{"runtime.bgsweep", partGC},
	{"runtime.bgscavenge", partGC},
	{"runtime.mcall", partScheduler},
	{"runtime.mstart", partScheduler},
}

// requests are the packages of an order's path. The innermost that is in a stack decides, so the standard library's calls
// of sockets and memory belong to their callers.
var requests = []struct{ prefix, part string }{
	{"comanda/internal/price", partPrice},
	{"comanda/internal/money", partPrice},
	{"comanda/internal/stock/stocksql", partRows},
	{"comanda/internal/stock", partAdmission},
	{"comanda/internal/redisdb", partAdmission},
	{"comanda/internal/limit", partIdentity},
	{"comanda/internal/authz", partIdentity},
	{"comanda/internal/visit", partIdentity},
	{"comanda/internal/account", partIdentity},
	{"comanda/internal/telemetry", partLog},
	{"github.com/prometheus", partLog},
	{"log/slog", partLog},
	{"comanda/internal/httpapi", partCodec},
	{"github.com/danielgtaylor/huma", partCodec},
	{"encoding/json", partCodec},
	{"comanda/internal/ordering/orderinghttp", partCodec},
	{"comanda/internal/ordering/orderingsql", partRows},
	{"comanda/internal/event", partRows},
	{"comanda/internal/sqldb", partRows},
	{"comanda/internal/bench.(*floor).write", partRows},
	{"comanda/internal/ordering", partDecide},
	{"comanda/internal/catalog", partDecide},
	{"comanda/internal/payment", partDecide},
	{"github.com/jackc/pgx", partDriver},
	{"modernc.org/", partDriver},
	{"database/sql", partDriver},
	{"net/http", partHTTP},
}

// partOf returns the part of a stack, whose first function is the innermost.
func partOf(stack []string) string {
	for _, b := range background {
		if slices.ContainsFunc(stack, func(f string) bool { return strings.HasPrefix(f, b.prefix) }) {
			return b.part
		}
	}
	for _, f := range stack {
		for _, r := range requests {
			if strings.HasPrefix(f, r.prefix) {
				return r.part
			}
		}
	}
	return partOther
}

// sampled has the samples of a contender's profiles.
type sampled struct {
	orders int64 // placed while the profiles ran
	parts  map[string]partSamples
}

// partSamples are the samples and the processor time of a part.
type partSamples struct {
	samples int64
	used    time.Duration
}

// micros returns the processor time of a part of an order.
func (s *sampled) micros(part string) float64 {
	return float64(s.parts[part].used.Microseconds()) / float64(max(1, s.orders))
}

// add adds the samples of a CPU profile.
func (s *sampled) add(p *profile.Profile) {
	if s.parts == nil {
		s.parts = map[string]partSamples{}
	}
	for _, sample := range p.Sample {
		var stack []string
		for _, l := range sample.Location {
			for _, line := range l.Line {
				stack = append(stack, line.Function.Name)
			}
		}
		name := partOf(stack)
		t := s.parts[name]
		t.samples += sample.Value[0]
		t.used += time.Duration(sample.Value[1])
		s.parts[name] = t
	}
}

// partRounds is the largest number of profiles. Loads of the floor alternate with them.
const partRounds = 4

// parts measures the parts. Each profile lasts as long as a measurement, in whole seconds, as the server takes them.
func (s *session) parts(ctx context.Context) error {
	if s.Debug == "" || s.Floor == "" {
		return errors.New("the server's profiles and the floor are needed")
	}
	floor, stop, err := s.newFloor(s.Floor, s.FloorPID)
	if err != nil {
		return err
	}
	defer stop()
	var found, bare sampled
	for range min(partRounds, s.Rounds) {
		if err := s.profileRound(ctx, s.newProduct(), s.Debug, &found); err != nil {
			return err
		}
		s.settle(ctx)
		if _, err := s.measureRound(ctx, floor); err != nil {
			return err
		}
		if err := s.profileRound(ctx, floor, s.Floor, &bare); err != nil {
			return err
		}
	}
	l := &PartLoad{Orders: found.orders}
	for _, c := range floor.resultPerOrder().CPU {
		if c.Process == "server" {
			l.Floor = c.Micros
		}
	}
	if l.Floor <= 0 {
		return errors.New("the processor time of the floor cannot be read")
	}
	for name, t := range found.parts {
		micros := found.micros(name)
		l.Parts = append(l.Parts, Part{
			Name: name, Micros: micros, OfFloor: micros / l.Floor, Samples: t.samples, FloorMicros: bare.micros(name),
		})
		l.Sum += micros
	}
	slices.SortFunc(l.Parts, func(a, b Part) int { return int(b.Samples - a.Samples) })
	s.report.Parts = l
	return nil
}

// profileRound adds a profile of a contender under full load to found. debug is the base URL of the contender's profiles.
func (s *session) profileRound(ctx context.Context, c *contender, debug string, found *sampled) error {
	seconds := int(math.Ceil(s.Duration.Seconds()))
	plan := s.ordering(slices.Max(s.Conns), s.product.items)
	plan.Target, plan.Warmup = c.target, 0
	plan.Duration = time.Duration(seconds)*time.Second + 2*s.warmup()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		r, err := load.Run(ctx, plan)
		if err == nil && r.Done == 0 {
			err = fmt.Errorf("%s accepted no order: %s", c.name, loadOf(r, 0).failures())
		}
		return err
	})
	g.Go(func() error {
		if err := clock.Wait(ctx, s.warmup()); err != nil {
			return err
		}
		before, err := c.count(ctx)
		if err != nil {
			return err
		}
		p, err := readProfile(ctx, debug, seconds)
		if err != nil {
			return err
		}
		after, err := c.count(ctx)
		found.orders += after.Orders - before.Orders
		found.add(p)
		return err
	})
	return g.Wait()
}

// readProfile reads a CPU profile.
func readProfile(ctx context.Context, debug string, seconds int) (*profile.Profile, error) {
	client := &http.Client{Timeout: time.Duration(seconds)*time.Second + askTimeout}
	defer client.CloseIdleConnections()
	address := fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", debug, seconds)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the profile is answered with %s", res.Status)
	}
	return profile.Parse(res.Body)
}

// text writes the parts as a table.
func (l *PartLoad) text(w io.Writer) {
	fmt.Fprintf(w, "\nparts of an order in the server, %d orders; an order of the floor takes %.0f µs\n", l.Orders, l.Floor)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "part\tµs\tof the floor\tsamples\tfloor's µs\tabove it\t")
	var floor float64
	for _, p := range l.Parts {
		floor += p.FloorMicros
		fmt.Fprintf(t, "%s\t%.1f\t%.2f\t%d\t%.1f\t%.1f\t\n",
			p.Name, p.Micros, p.OfFloor, p.Samples, p.FloorMicros, p.Micros-p.FloorMicros)
	}
	fmt.Fprintf(t, "sum\t%.1f\t%.2f\t\t%.1f\t%.1f\t\n", l.Sum, l.Sum/l.Floor, floor, l.Sum-floor)
	_ = t.Flush()
}

// Growth that the budget allows to a part, and the number of standard deviations of its sample by which it must be exceeded:
// a part of two percent has a few hundred samples, and their number alone varies by a tenth.
const (
	allowedGrowth = 1.10
	deviations    = 3
)

// ReadBudget reads the budget of the parts: the JSON of an earlier report.
func ReadBudget(path string) (*PartLoad, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("bench: %s: %w", path, err)
	}
	if r.Parts == nil || r.Parts.Floor <= 0 {
		return nil, fmt.Errorf("bench: %s has no parts of an order", path)
	}
	return r.Parts, nil
}

// Exceeds returns an error that names the parts that have grown by more than a tenth beyond a budget, in orders of the
// floor. A part without a budget may not take more than a fiftieth of the sum.
func (l *PartLoad) Exceeds(budget *PartLoad) error {
	allowed := map[string]Part{}
	for _, p := range budget.Parts {
		allowed[p.Name] = p
	}
	var all []error
	for _, p := range l.Parts {
		b, ok := allowed[p.Name]
		if !ok {
			b.OfFloor, b.Samples = budget.Sum/budget.Floor/50, p.Samples
		}
		noise := deviations * p.OfFloor * math.Sqrt(1/float64(max(1, p.Samples))+1/float64(max(1, b.Samples)))
		if p.OfFloor > allowedGrowth*b.OfFloor && p.OfFloor-b.OfFloor > noise {
			all = append(all, fmt.Errorf("%s takes %.2f orders of the floor, its budget is %.2f", p.Name, p.OfFloor, b.OfFloor))
		}
	}
	return errors.Join(all...)
}
