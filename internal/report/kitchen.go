package report

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Ticket is an order's way through the kitchen: instants in unix milliseconds, 0 for what has not happened.
type Ticket struct {
	Date     string // business date
	Paid     int64
	Accepted int64
	Ready    int64
	Served   int64
}

// Phase is a part of that way.
type Phase string

// The phases. Each begins where the one before it ends; Whole is all of them.
const (
	Accept  Phase = "ACCEPT"  // from the money to somebody who has seen the ticket
	Prepare Phase = "PREPARE" // until everything was ready
	Serve   Phase = "SERVE"   // until it was at the table, or handed over
	Whole   Phase = "WHOLE"   // from the money to the table
)

// phases are in their order, with where each begins and ends.
var phases = []struct {
	Phase
	from, to func(Ticket) int64
}{
	{Accept, Ticket.paid, Ticket.accepted},
	{Prepare, Ticket.accepted, Ticket.ready},
	{Serve, Ticket.ready, Ticket.served},
	{Whole, Ticket.paid, Ticket.served},
}

func (t Ticket) paid() int64     { return t.Paid }
func (t Ticket) accepted() int64 { return t.Accepted }
func (t Ticket) ready() int64    { return t.Ready }
func (t Ticket) served() int64   { return t.Served }

// Pace is how long orders took in a phase. Half of them took no longer than P50, nine of ten no longer than P90: the times
// of real orders, not between two.
type Pace struct {
	Date  string // business date, where orders were put together by dates
	Hour  int    // of the branch's clock at which they were paid, where they were put together by hours
	Phase Phase

	Orders   int64
	P50, P90 time.Duration
}

// PaceOfDays puts tickets together by business dates.
func PaceOfDays(all []Ticket) []Pace {
	return paceOf(all, func(t Ticket) string { return t.Date }, func(p *Pace, date string) { p.Date = date })
}

// PaceOfHours puts tickets together by the hours of a zone's clock at which they were paid (R5).
func PaceOfHours(all []Ticket, zone *time.Location) []Pace {
	hour := func(t Ticket) int { return time.UnixMilli(t.Paid).In(zone).Hour() }
	return paceOf(all, hour, func(p *Pace, hour int) { p.Hour = hour })
}

// paceOf keeps places instead of tickets, and one list of times for all groups: a year is a quarter of a million tickets.
func paceOf[K cmp.Ordered](all []Ticket, key func(Ticket) K, name func(*Pace, K)) []Pace {
	groups := map[K][]int{}
	for i, t := range all {
		k := key(t)
		groups[k] = append(groups[k], i)
	}
	paces, took := []Pace{}, []int64{}
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		for _, phase := range phases {
			took = took[:0]
			for _, i := range groups[k] {
				if from, to := phase.from(all[i]), phase.to(all[i]); from != 0 && to != 0 {
					took = append(took, to-from)
				}
			}
			if len(took) == 0 {
				continue
			}
			slices.Sort(took)
			p := Pace{Phase: phase.Phase, Orders: int64(len(took)), P50: percentile(took, 50), P90: percentile(took, 90)}
			name(&p, k)
			paces = append(paces, p)
		}
	}
	return paces
}

// percentile is the shortest time that at least so many of a hundred did not exceed.
func percentile(sorted []int64, percent int) time.Duration {
	return time.Duration(sorted[(len(sorted)*percent+99)/100-1]) * time.Millisecond
}
