package stockredis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"comanda/internal/keyspace"
	"comanda/internal/stock"
)

const (
	// Scopes are independent of one another, so their calls may be on the wire together.
	maxScopes = 8

	// A business date ends at most 60 hours after its midnight in UTC (23 hours of start hour, 24 of day, 12 of time zone,
	// with one to spare) and its records 12 hours later: after that nothing of the scope is left that could be changed.
	scopeGone = 72 * time.Hour
)

var kinds = map[stock.OpKind]string{
	stock.OpHeld: "H", stock.OpConfirm: "C", stock.OpCancel: "X", stock.OpReturn: "R", stock.OpCap: "Q",
}

// Apply tells the gate what SQL has committed, in the order given. For each operation it answers whether the gate has
// dealt with it; what it has not must be told again later (the scope is unknown, or Redis is out of reach). The error
// is the first trouble with Redis or the first impossible operation; the answers hold in any case.
func (g *Gate) Apply(ctx context.Context, ops []stock.Op) ([]bool, error) {
	applied := make([]bool, len(ops))
	var bad error
	perScope := map[stock.Scope][]int{}
	for i, op := range ops {
		switch err := checkOp(op); {
		case err != nil:
			bad = errors.Join(bad, fmt.Errorf("stockredis: %s of %s: %w", op.Kind, op.Hold.ID, err))
		case g.gone(op.Hold.Scope):
			applied[i] = true
		default:
			perScope[op.Hold.Scope] = append(perScope[op.Hold.Scope], i)
		}
	}
	var all errgroup.Group
	all.SetLimit(maxScopes)
	for scope, places := range perScope {
		all.Go(func() error { return g.applyScope(ctx, scope, ops, places, applied) })
	}
	return applied, errors.Join(bad, all.Wait())
}

func checkOp(op stock.Op) error {
	h := op.Hold
	switch op.Kind {
	case stock.OpHeld, stock.OpConfirm:
	case stock.OpCancel, stock.OpReturn: // what they give back stands in the record
		h.Lines = []stock.Line{{Item: 1, Qty: 1}}
	case stock.OpCap:
		if len(h.Lines) != 1 || h.Lines[0].Item < 1 || h.Lines[0].Qty < 0 && h.Lines[0].Qty != stock.Unlimited {
			return stock.ErrLines
		}
		return nil
	default:
		return errKind
	}
	_, err := check(h)
	return err
}

var errKind = errors.New("not an operation of the gate")

// gone tells whether a scope's keys have ended their lives in every time zone, so that there is nothing to apply to.
func (g *Gate) gone(s stock.Scope) bool {
	midnight, err := time.Parse(time.DateOnly, s.Date)
	return err == nil && g.cfg.Now().Sub(midnight) > scopeGone
}

// applyScope sends the operations at the given places, which share a scope, in calls of bounded size.
func (g *Gate) applyScope(ctx context.Context, s stock.Scope, ops []stock.Op, places []int, applied []bool) error {
	for len(places) > 0 {
		n, lines := 0, 0
		for n < len(places) && n < maxBatch && lines+len(ops[places[n]].Hold.Lines) <= maxLines {
			lines += len(ops[places[n]].Hold.Lines)
			n++
		}
		keys, args := applyArgs(s, ops, places[:n])
		outcomes, err := g.db.Run(ctx, applyScript, keys, args).Ints()
		switch {
		case err != nil:
			return err
		case len(outcomes) == 1 && outcomes[0] == scopeUnknown:
			g.metrics.unknown.Inc()
			return nil // the rest would be answered alike, and must not be applied out of order
		case len(outcomes) != n+1:
			return errReply
		}
		for i, p := range places[:n] {
			applied[p] = true
			g.metrics.outcomes.WithLabelValues(string(ops[p].Kind), outcomeNames[outcomes[i+1]]).Inc()
		}
		places = places[n:]
	}
	return nil
}

func applyArgs(s stock.Scope, ops []stock.Op, places []int) ([]keyspace.Key, []string) {
	keys := append(counterKeys(s, 1+len(places)), keyspace.LeasesDue(s.Branch))
	args := []string{decimal(s.Branch), s.Date, ""}
	var body []string
	record := map[string]string{} // hold -> its place in the list of records
	for _, p := range places {
		op := ops[p]
		if op.Kind == stock.OpCap {
			body = append(body, kinds[op.Kind], "0", "1", decimal(op.Hold.Lines[0].Item), capText(op.Hold.Lines[0].Qty))
			continue
		}
		at, ok := record[op.Hold.ID]
		if !ok {
			keys = append(keys, keyspace.HoldRecord(s.Branch, op.Hold.ID))
			args = append(args, op.Hold.ID)
			at = decimal(int64(len(record) + 1))
			record[op.Hold.ID] = at
		}
		body = append(body, kinds[op.Kind], at, decimal(int64(len(op.Hold.Lines))))
		for _, l := range op.Hold.Lines {
			body = append(body, decimal(l.Item), decimal(l.Qty))
		}
	}
	args[2] = decimal(int64(len(record)))
	return keys, append(args, body...)
}
