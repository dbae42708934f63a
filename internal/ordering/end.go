package ordering

import (
	"context"

	"comanda/internal/fault"
	"comanda/internal/identity"
)

// Cancel cancels an unpaid order for its guest. Only the phone that placed it may cancel it, although the whole party
// sees it. For an order that is already cancelled it returns the current state.
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

// StaffCancel cancels an unpaid order of a branch that the actor may see.
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

// Limits of one ExpireOverdue call. It goes on after a full batch, so that a backlog clears without waiting for the
// next run.
const (
	expireBatch = 500 // orders per batch
	expireRuns  = 40  // batches
)

// ExpireOverdue expires unpaid orders past their deadline and returns their number. Any number of processes may run
// it: the ledger checks each order again under its locks, and skips those paid or cancelled in the meantime.
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
