package reporthttp

import (
	"context"

	"comanda/internal/report"
	"comanda/internal/seq"
)

// Pace is the JSON form of report.PhaseStats.
type Pace struct {
	Phase  string `json:"phase" enum:"ACCEPT,PREPARE,SERVE,WHOLE" doc:"ACCEPT: from payment to acceptance. PREPARE: until ready. SERVE: until handed over. WHOLE: from payment to handover."`
	Orders int64  `json:"orders"`
	P50    int64  `json:"p50Ms" doc:"Median, in milliseconds."`
	P90    int64  `json:"p90Ms" doc:"90th percentile, in milliseconds."`
}

type dayPace struct {
	Date string `json:"date"`
	Pace
}

type hourPace struct {
	Hour int `json:"hour" doc:"Hour of payment in branch local time."`
	Pace
}

type ticketsView struct {
	Head
	Days  []dayPace  `json:"days"`
	Hours []hourPace `json:"hours"`
}

func (r routes) tickets(ctx context.Context, _ *Span, s report.Span) (ticketsView, error) {
	all, err := r.service.Tickets(ctx, s)
	byDay, byHour := report.PhaseStatsByDay(all), report.PhaseStatsByHour(all, s.Branch.Calendar().Zone())
	return ticketsView{
		Head:  headOf(s),
		Days:  seq.Map(byDay, func(p report.PhaseStats) dayPace { return dayPace{p.Date, paceOf(p)} }),
		Hours: seq.Map(byHour, func(p report.PhaseStats) hourPace { return hourPace{p.Hour, paceOf(p)} }),
	}, err
}

func paceOf(p report.PhaseStats) Pace {
	return Pace{string(p.Phase), p.Orders, p.P50.Milliseconds(), p.P90.Milliseconds()}
}

// sheet lists the dates first, then the hours.
func (v ticketsView) sheet() *sheet {
	s := &sheet{columns: []string{"date", "hour", "phase", "orders", "p50_ms", "p90_ms"}}
	for _, d := range v.Days {
		s.add(d.Date, "", d.Phase, d.Orders, d.P50, d.P90)
	}
	for _, h := range v.Hours {
		s.add("", h.Hour, h.Phase, h.Orders, h.P50, h.P90)
	}
	return s
}
