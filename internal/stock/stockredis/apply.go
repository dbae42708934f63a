package stockredis

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
	"comanda/internal/stock"
)

// maxScopes is the number of scopes that are called in parallel; they are independent of each other.
const maxScopes = 8

var opCodes = map[stock.OpKind]string{
	stock.OpHeld: "H", stock.OpConfirm: "C", stock.OpCancel: "X", stock.OpReturn: "R", stock.OpForget: "F", stock.OpCap: "Q",
}

// Apply applies committed changes in the order given and reports for each whether it was applied. The others must be
// sent again: their scope is unknown, or Redis is out of reach. The error contains the first failure of Redis, and a
// stock.RejectedError with the operations that are invalid or that a script fails on; the reports are valid in any
// case.
//
// A rejected operation does not block later ones, so operations on one hold may be applied out of order. The state
// table allows for that: the later operation decides. If the counters then differ from SQL, the scope is rebuilt.
func (ac *Cache) Apply(ctx context.Context, ops []stock.Op) ([]bool, error) {
	t := &applyCall{ops: ops, applied: make([]bool, len(ops)), rejected: map[int]error{}}
	perScope := map[stock.Scope][]int{}
	for i, op := range ops {
		switch err := checkOp(op); {
		case err != nil:
			t.reject(i, err)
		case op.Hold.Scope.CacheExpired(ac.cfg.Now()):
			t.applied[i] = true
		default:
			perScope[op.Hold.Scope] = append(perScope[op.Hold.Scope], i)
		}
	}
	var all errgroup.Group
	all.SetLimit(maxScopes)
	for scope, places := range perScope {
		all.Go(func() error { return ac.applyScope(ctx, scope, places, t) })
	}
	err := all.Wait()
	if len(t.rejected) > 0 {
		err = errors.Join(&stock.RejectedError{Ops: t.rejected}, err)
	}
	return t.applied, err
}

// applyCall is one call of Apply. Its scopes run concurrently and write disjoint indexes of applied.
type applyCall struct {
	ops     []stock.Op
	applied []bool

	mu       sync.Mutex
	rejected map[int]error
}

func (t *applyCall) reject(place int, err error) {
	op := t.ops[place]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rejected[place] = fmt.Errorf("stockredis: %s of %s: %w", op.Kind, op.Hold.ID, err)
}

// checkOp returns an error for an operation that would make a script fail.
func checkOp(op stock.Op) error {
	if err := op.Validate(); err != nil || op.Kind == stock.OpCap {
		return err
	}
	if !recordKey(op.Hold.Scope, op.Hold.ID).Valid() {
		return errHold
	}
	return nil
}

// applyScope sends the operations at the given indexes, all of one scope, in calls of bounded size. A call that the
// server rejects has changed nothing; it is repeated with half as many operations until only the invalid one is left.
//
// After an error of the connection it stops: the effect of the call is unknown, and later operations must not be
// applied before the unknown ones. Sending all of them again is safe, because each is idempotent.
func (ac *Cache) applyScope(ctx context.Context, s stock.Scope, places []int, t *applyCall) error {
	for most := maxBatch; len(places) > 0; {
		n := callSize(t.ops, places, most)
		keys, args := ac.applyArgs(s, t.ops, places[:n])
		outcomes, err := ac.db.Run(ctx, applyScript, keys, args).Ints()
		switch {
		case isRequestError(err) && n > 1:
			most = n / 2
			continue
		case isRequestError(err):
			t.reject(places[0], err)
		case err != nil:
			return err
		case len(outcomes) == 1 && outcomes[0] == scopeUnknown:
			ac.metrics.Unknown()
			return nil // the remaining operations would get the same reply, and must not be applied out of order
		case len(outcomes) != n+1:
			return errReply
		default:
			for i, p := range places[:n] {
				t.applied[p] = true
				ac.metrics.Applied(t.ops[p].Kind, stock.Effect(outcomes[i+1])) //nolint:gosec // 1 to 3, by the script
			}
		}
		// After an invalid operation the calls grow again, so one invalid operation costs a few extra calls and not
		// one per operation.
		places, most = places[n:], min(2*most, maxBatch)
	}
	return nil
}

// callSize returns how many operations fit into a call, up to a maximum.
func callSize(ops []stock.Op, places []int, most int) int {
	n, lines := 0, 0
	for n < len(places) && n < most && lines+len(ops[places[n]].Hold.Lines) <= maxLines {
		lines += len(ops[places[n]].Hold.Lines)
		n++
	}
	return n
}

// isRequestError reports whether an error is caused by the request. A read-only server rejects every request and does
// not count.
func isRequestError(err error) bool {
	return errors.Is(err, redisdb.ErrReply) && !errors.Is(err, redisdb.ErrNoWrites)
}

// applyArgs returns the keys and arguments of apply.lua. Each hold has one record in the call, however many operations
// concern it, because a script reads each record once.
func (ac *Cache) applyArgs(s stock.Scope, ops []stock.Op, places []int) ([]keyspace.Key, []string) {
	keys := append(counterKeys(s, 1+len(places)), provisionalKey(s))
	args := []string{decimal(s.Branch), s.Date, millis(ac.cfg.Now()), ""}
	var body []string
	record := map[string]string{} // index of a hold in the list of records
	for _, p := range places {
		op := ops[p]
		if op.Kind == stock.OpCap {
			body = append(body, opCodes[op.Kind], "0", "1", decimal(op.Hold.Lines[0].Item), capText(op.Hold.Lines[0].Qty))
			continue
		}
		at, ok := record[op.Hold.ID]
		if !ok {
			keys = append(keys, recordKey(s, op.Hold.ID))
			args = append(args, op.Hold.ID)
			at = decimal(int64(len(record) + 1))
			record[op.Hold.ID] = at
		}
		body = append(body, opCodes[op.Kind], at, decimal(int64(len(op.Hold.Lines))))
		for _, l := range op.Hold.Lines {
			body = append(body, decimal(l.Item), decimal(l.Qty))
		}
	}
	args[3] = decimal(int64(len(record)))
	return keys, append(args, body...)
}
