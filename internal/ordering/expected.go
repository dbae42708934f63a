package ordering

import (
	"context"
	"slices"
	"time"
)

const (
	// recentTickets and recentKitchen select the orders that show a kitchen's speed: the last ones, while they were cooked
	// under today's load. Yesterday's rush says nothing about this evening.
	recentTickets = 30
	recentKitchen = 2 * time.Hour
	// fewestTickets is how many orders must have become ready for an estimate. With fewer, one forgotten ticket decides.
	fewestTickets = 5
	// cookingTimeTTL is how long an estimate is used. A branch costs one statement in this time, however many guests wait.
	cookingTimeTTL = 30 * time.Second
)

// cookingTime estimates the time from payment to ready: four of five recent orders took at most as long. The average
// would disappoint every second guest. It returns false without enough orders.
func cookingTime(took []time.Duration) (time.Duration, bool) {
	if len(took) < fewestTickets {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(took))
	return sorted[(len(sorted)*4-1)/5], true
}

// expect sets when the kitchen will likely have a paid order ready. It leaves the zero time for an order that the
// kitchen does not cook, or no longer, and if the kitchen has too few recent orders. The estimate is a courtesy: after
// an error the order is answered without it.
func (s *Service) expect(ctx context.Context, d *Detail) {
	if d.PaymentStatus != Paid || d.Status != Placed && d.Status != Accepted && d.Status != Preparing {
		return
	}
	branch := d.Scope.Branch
	took, err := s.cookingTimes.Load(branch, s.Now, cookingTimeTTL, func() (time.Duration, error) {
		all, err := s.Reader.ReadyTimes(ctx, branch, s.Now().Add(-recentKitchen), recentTickets)
		took, ok := cookingTime(all)
		if err != nil || !ok {
			return 0, err
		}
		return took, nil
	})
	if err != nil {
		s.Log.WarnContext(ctx, "the cooking time of a branch is unknown", "branch", branch, "err", err)
		return
	}
	if took > 0 {
		d.ExpectedAt = d.PaidAt.Add(took)
	}
}
