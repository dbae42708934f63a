package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"comanda/internal/bench/load"
)

// EchoRatios compare requests that write nothing with the echo, measured in turn with them. Each is the median of the
// rounds.
type EchoRatios struct {
	Refusals   float64 `json:"refusals"`
	Menu       float64 `json:"menu"`
	Compressed float64 `json:"menuCompressed"`
	Unchanged  float64 `json:"menuUnchanged"`
}

// besideEcho measures the limit of HTTP and JSON, and in turn with it refusals of a dish that is sold out, for which every
// response must be 409, and menus. The echo and refusals use the requests and connections of the best load, menus the
// smallest number of connections: their bodies are large enough to saturate the machine.
func (s *session) besideEcho(ctx context.Context) (err error) {
	base := s.Echo
	if base == "" {
		var stop func()
		if base, stop, err = serveLocal(ctx, EchoHandler()); err != nil {
			return err
		}
		defer stop()
	}
	if err := s.product.readMenu(ctx); err != nil { // the entity tag has changed with the orders
		return err
	}
	conns := s.report.Best().Conns
	echo, refused := s.ordering(conns, s.product.items), s.ordering(conns, []string{s.product.soldOut})
	if echo.Target, err = load.ParseTarget(base); err != nil {
		return err
	}
	refused.Want = http.StatusConflict
	menu := func(want int, headers ...string) load.Plan {
		return load.Plan{Conns: slices.Min(s.Conns), Want: want, Requests: s.product.menus(headers...)}
	}
	// Each round repeats the keys of the one before. A refused order leaves nothing under its key, so it is refused alike.
	loads, over, err := s.alternate(ctx, echo, refused, menu(http.StatusOK), menu(http.StatusOK, "Accept-Encoding", "gzip"),
		menu(http.StatusNotModified, "If-None-Match", s.product.etag))
	if err != nil {
		return err
	}
	r := &s.report
	r.Limits.Echo, r.Refusals, r.Menu, r.Compressed, r.Unchanged = loads[0], loads[1], loads[2], loads[3], loads[4]
	r.OverEcho = EchoRatios{Refusals: over[1], Menu: over[2], Compressed: over[3], Unchanged: over[4]}
	return nil
}

// alternateRounds is the number of rounds of alternate. A round takes a quarter of the usual duration.
const alternateRounds = 6

// alternate measures plans in turn, because the speed of a shared machine changes within seconds. It returns the sum of
// the rounds of each plan, and the median of its rate over that of the first plan in the same round.
func (s *session) alternate(ctx context.Context, plans ...load.Plan) (loads []Load, ratios []float64, err error) {
	sums, over := make([]load.Result, len(plans)), make([][]float64, len(plans))
	for range alternateRounds {
		var first float64
		for i, p := range plans {
			r, err := s.shortRound(ctx, p)
			if err != nil {
				return nil, nil, err
			}
			if i == 0 {
				first = r.PerSecond()
			}
			sums[i].Add(r)
			over[i] = append(over[i], r.PerSecond()/first)
		}
	}
	for i := range plans {
		loads, ratios = append(loads, loadOf(&sums[i], 0)), append(ratios, median(over[i]))
	}
	return loads, ratios, nil
}

// shortRound measures one round. It repeats a round without a response, which may happen while the disk stalls.
func (s *session) shortRound(ctx context.Context, p load.Plan) (r *load.Result, err error) {
	if p.Target == (load.Target{}) {
		p.Target = s.target
	}
	p.Warmup, p.Duration = s.warmup()/4, max(s.Duration/4, minDuration)
	for range roundTries {
		if r, err = load.Run(ctx, p); err != nil || r.Done > 0 {
			return r, err
		}
	}
	return nil, fmt.Errorf("no request had the wanted response: %s", loadOf(r, 0).failures())
}

// roundTries is the number of times that a round without a response is measured.
const roundTries = 3

// median returns the middle value, or the mean of the two in the middle. It sorts the values.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
