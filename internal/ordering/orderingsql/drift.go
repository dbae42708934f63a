package orderingsql

import (
	"context"
	"fmt"
	"time"

	"comanda/internal/sqldb"
)

// maxDrift is how many differences of a kind are listed.
const maxDrift = 50

// overdueGrace is how long after its deadline an unpaid order may still be there (I10).
const overdueGrace = 5 * time.Second

var (
	driftStates  = Statements.Must("drift_states")
	driftLines   = Statements.Must("drift_lines")
	driftOrphans = Statements.Must("drift_orphans")
	driftMoney   = Statements.Must("drift_money")
	driftOverdue = Statements.Must("drift_overdue")
)

// Drift compares orders with their holds and their money, from a business date on. It gives one sentence per difference,
// at most 50 of a kind; nothing means that all agree.
func (s *Orders) Drift(ctx context.Context, from string, now time.Time) ([]string, error) {
	return s.DriftOf(ctx, 0, from, now)
}

// DriftOf compares what belongs to one branch, or to every one with 0.
func (s *Orders) DriftOf(ctx context.Context, branch int64, from string, now time.Time) ([]string, error) {
	var all []string
	for _, look := range []struct {
		stmt *sqldb.Stmt
		by   any
		say  func(sqldb.Rows) (string, error)
	}{
		{driftStates, from, sayState},
		{driftLines, from, sayLine},
		{driftOrphans, from, sayOrphan},
		{driftMoney, from, sayMoney},
		{driftOverdue, now.Add(-overdueGrace).UnixMilli(), sayOverdue},
	} {
		rows, err := s.db.Query(ctx, look.stmt, look.by, maxDrift, branch)
		found, err := sqldb.Collect(rows, err, look.say)
		if err != nil {
			return all, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func sayState(r sqldb.Rows) (string, error) {
	var id, status, payment, hold string
	err := r.Scan(&id, &status, &payment, &hold)
	return fmt.Sprintf("order %s is %s/%s and its hold is %s", id, status, payment, hold), err
}

func sayLine(r sqldb.Rows) (string, error) {
	var id string
	var item, ordered, held int64
	err := r.Scan(&id, &item, &ordered, &held)
	return fmt.Sprintf("order %s lists %d of item %d and holds %d", id, ordered, item, held), err
}

func sayOrphan(r sqldb.Rows) (string, error) {
	var id, state string
	err := r.Scan(&id, &state)
	return fmt.Sprintf("hold %s is %s and belongs to no order", id, state), err
}

func sayMoney(r sqldb.Rows) (string, error) {
	var id, payment string
	var total, captured, refunded int64
	err := r.Scan(&id, &payment, &total, &captured, &refunded)
	return fmt.Sprintf("order %s of %d is %s, with %d captured and %d to be given back",
		id, total, payment, captured, refunded), err
}

func sayOverdue(r sqldb.Rows) (string, error) {
	var id string
	var at int64
	err := r.Scan(&id, &at)
	return fmt.Sprintf("hold %s is overdue since %s", id, time.UnixMilli(at).UTC().Format(time.RFC3339)), err
}
