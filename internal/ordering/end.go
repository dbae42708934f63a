package ordering

import (
	"context"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Cancel ends an unpaid order for its guest. Only the phone that placed it may; others of the party see it. An order
// that is cancelled already is answered as it is.
func (s *Service) Cancel(ctx context.Context, g Guest, id string) (Order, error) {
	d, err := s.visible(ctx, g, id)
	if err != nil {
		return Order{}, err
	}
	if d.GuestHash != g.Hash {
		return Order{}, fault.New(fault.Forbidden, "not_your_order", "Only the phone that placed the order can cancel it.")
	}
	return s.end(ctx, End{OrderID: id, Reason: UserCanceled})
}

// StaffCancel ends any unpaid order of a branch that the actor sees.
func (s *Service) StaffCancel(ctx context.Context, by identity.Actor, id string) (Order, error) {
	if _, err := s.StaffOrder(ctx, by, id); err != nil {
		return Order{}, err
	}
	return s.end(ctx, End{OrderID: id, Reason: StaffCanceled, By: by})
}

func (s *Service) end(ctx context.Context, e End) (Order, error) {
	r, err := s.Ledger.Do(ctx, Command{End: &e})
	if err == nil && r.Changed {
		s.Metrics.ended(e.Reason)
	}
	return r.Order, err
}

// expireBatch is how many orders one run of the sweeper looks at, and expireRuns how often it goes on at once while
// batches come back full.
const (
	expireBatch = 500
	expireRuns  = 40
)

// ExpireOverdue ends unpaid orders whose deadline has passed and tells how many. Any number of processes may run it:
// the ledger looks again under its locks, and an order that somebody paid or ended in between stays as it is.
func (s *Service) ExpireOverdue(ctx context.Context) (int, error) {
	total := 0
	for range expireRuns {
		ids, err := s.Reader.Overdue(ctx, s.Now(), expireBatch)
		if err != nil || len(ids) == 0 {
			return total, err
		}
		commands := make([]Command, len(ids))
		for i, id := range ids {
			commands[i] = Command{End: &End{OrderID: id, Reason: Expired}}
		}
		results, failures := s.Ledger.DoAll(ctx, commands)
		for i := range results {
			if failures[i] == nil && results[i].Changed {
				total++
				s.Metrics.ended(Expired)
			} else if err == nil && fault.KindOf(failures[i]) != fault.Conflict {
				err = failures[i]
			}
		}
		if err != nil || len(ids) < expireBatch {
			return total, err
		}
	}
	return total, nil
}
