package report

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Ticket contains the instants of an order in the kitchen, in unix milliseconds; 0 means not yet.
type Ticket struct {
	Date     string // business date
	Paid     int64
	Accepted int64
	Ready    int64
	Served   int64
}

// Phase is a part of a ticket's life.
type Phase string

// The phases of a ticket. Each begins when the previous one ends; Whole covers all of them.
const (
	Accept  Phase = "ACCEPT"  // from payment to acceptance
	Prepare Phase = "PREPARE" // from acceptance to ready
	Serve   Phase = "SERVE"   // from ready to served or handed over
	Whole   Phase = "WHOLE"   // from payment to served
)

// phases lists the phases in order, with their start and end.
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

// PhaseStats are the durations of a phase over a group of orders. P50 and P90 are durations of real orders (nearest
// rank), not interpolated.
type PhaseStats struct {
	Date  string // business date, if grouped by date
	Hour  int    // local hour of payment, if grouped by hour
	Phase Phase

	Orders   int64
	P50, P90 time.Duration
}

// PhaseStatsByDay groups tickets by business date.
func PhaseStatsByDay(all []Ticket) []PhaseStats {
	return phaseStats(all, func(t Ticket) string { return t.Date }, func(p *PhaseStats, date string) { p.Date = date })
}

// PhaseStatsByHour groups tickets by the hour of payment in a time zone (R5).
func PhaseStatsByHour(all []Ticket, zone *time.Location) []PhaseStats {
	hour := func(t Ticket) int { return time.UnixMilli(t.Paid).In(zone).Hour() }
	return phaseStats(all, hour, func(p *PhaseStats, hour int) { p.Hour = hour })
}

// phaseStats groups indexes instead of tickets, and reuses one list of durations for all groups, because a year has a
// quarter of a million tickets.
func phaseStats[K cmp.Ordered](all []Ticket, key func(Ticket) K, name func(*PhaseStats, K)) []PhaseStats {
	groups := map[K][]int{}
	for i, t := range all {
		k := key(t)
		groups[k] = append(groups[k], i)
	}
	paces, took := []PhaseStats{}, []int64{}
	for _, k := range slices.Sorted(maps.Keys(groups)) {
		for _, phase := range phases {
			took = took[:0]
			for _, i := range groups[k] {
				// A phase without both instants has no duration yet.
				if from, to := phase.from(all[i]), phase.to(all[i]); from != 0 && to != 0 {
					took = append(took, to-from)
				}
			}
			if len(took) == 0 {
				continue
			}
			slices.Sort(took)
			p := PhaseStats{Phase: phase.Phase, Orders: int64(len(took)), P50: percentile(took, 50), P90: percentile(took, 90)}
			name(&p, k)
			paces = append(paces, p)
		}
	}
	return paces
}

// percentile returns the nearest-rank percentile of sorted durations.
func percentile(sorted []int64, percent int) time.Duration {
	return time.Duration(sorted[(len(sorted)*percent+99)/100-1]) * time.Millisecond
}
