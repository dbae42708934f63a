package ordering_test

import (
	"errors"
	"testing"
	"time"

	"comanda/internal/ordering"
)

// An unpaid order can be extended twice. The deadline of its hold moves with it.
func TestBatch_ExtendDeadline(t *testing.T) {
	for _, c := range []struct {
		name, story  string
		seenDeadline time.Duration // the deadline that the client saw, since placement
		err          error
		changed      bool
		payBy        time.Duration
		left         int
	}{
		{"once", "", time.Minute, nil, true, 6 * time.Minute, 1},
		{"twice", "more:1m", 6 * time.Minute, nil, true, 11 * time.Minute, 0},
		{"three times", "more:1m more:6m", 11 * time.Minute, ordering.ErrNoExtensionLeft, false, 11 * time.Minute, 0},
		{"the same again", "more:1m", time.Minute, nil, false, 6 * time.Minute, 1},
		{"the same again when none is left", "more:1m more:6m", 6 * time.Minute, nil, false, 11 * time.Minute, 0},
		{"another deadline than there is", "", time.Hour, nil, false, time.Minute, 2},
		{"while a page waits", "redirect:1", time.Minute, nil, true, 6 * time.Minute, 1},
		{"after a failure", "said:FAILED", time.Minute, nil, true, 6 * time.Minute, 1},
		{"at the last moment", "pass:59999ms", time.Minute, nil, true, 6 * time.Minute, 1},
		{"when it expires", "pass:1m", time.Minute, ordering.ErrTooLate, false, time.Minute, 2},
		{"too late", "pass:1h", time.Minute, ordering.ErrTooLate, false, time.Minute, 2},
		{"while money is taken", "redirect:1 confirm", time.Minute, ordering.ErrConfirming, false, time.Minute, 0},
		{"paid", "said:PAID", time.Minute, ordering.ErrAlreadyPaid, false, time.Minute, 0},
		{"cancelled", "end:USER_CANCELED", time.Minute, ordering.ErrNotPayable, false, time.Minute, 0},
		{"to be given back", "end:USER_CANCELED then other then said:PAID", time.Minute, ordering.ErrNotPayable, false, time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			before, hold := p.order(), p.b.Deadlines["o-a"]
			p.do(&ordering.ExtendDeadline{OrderID: "o-a", PayBy: now.Add(c.seenDeadline)})
			o := p.order()
			if !errors.Is(p.r.Err, c.err) || p.r.Changed != c.changed || o.ExtensionsLeft() != c.left || !o.PayBy.Equal(now.Add(c.payBy)) {
				t.Errorf("changed %v, %v, to be paid by %v, %d more", p.r.Changed, p.r.Err, o.PayBy.Sub(now), o.ExtensionsLeft())
			}
			if moved := o.ExpiresAt.Sub(before.ExpiresAt); moved != o.PayBy.Sub(before.PayBy) {
				t.Errorf("expires %v later", moved)
			}
			if c.changed {
				hold = o.ExpiresAt
			}
			if p.b.Deadlines["o-a"] != hold || (o.Version > before.Version) != c.changed {
				t.Errorf("its hold ends at %v; version %d after %d", p.b.Deadlines["o-a"], o.Version, before.Version)
			}
			p.balanced()
		})
	}
	if got := batch().Decide([]ordering.Command{&ordering.ExtendDeadline{OrderID: "none"}})[0]; !errors.Is(got.Err, ordering.ErrNotFound) {
		t.Errorf("an unknown order: %v", got.Err)
	}
}
