package reporthttp

import (
	"context"
	"strconv"

	"comanda/internal/report"
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
	v := ticketsView{Head: headOf(s), Days: []dayPace{}, Hours: []hourPace{}}
	all, err := r.service.Tickets(ctx, s)
	for _, p := range report.PhaseStatsByDay(all) {
		v.Days = append(v.Days, dayPace{p.Date, paceOf(p)})
	}
	for _, p := range report.PhaseStatsByHour(all, s.Branch.Calendar().Zone()) {
		v.Hours = append(v.Hours, hourPace{p.Hour, paceOf(p)})
	}
	return v, err
}

func paceOf(p report.PhaseStats) Pace {
	return Pace{string(p.Phase), p.Orders, p.P50.Milliseconds(), p.P90.Milliseconds()}
}

// sheet lists the dates first, then the hours.
func (v ticketsView) sheet() sheet {
	s := sheet{columns: []string{"date", "hour", "phase", "orders", "p50_ms", "p90_ms"}}
	row := func(date, hour string, p Pace) {
		s.rows = append(s.rows, []string{date, hour, p.Phase, whole(p.Orders), whole(p.P50), whole(p.P90)})
	}
	for _, d := range v.Days {
		row(d.Date, "", d.Pace)
	}
	for _, h := range v.Hours {
		row("", strconv.Itoa(h.Hour), h.Pace)
	}
	return s
}
