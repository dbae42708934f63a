package reporthttp

import (
	"context"

	"comanda/internal/report"
	"comanda/internal/seq"
)

type memberDay struct {
	Date      string `json:"date"`
	Daily     int64  `json:"daily" doc:"Members who used their account on the date."`
	Weekly    int64  `json:"weekly" doc:"Members of the seven dates that end with it."`
	Monthly   int64  `json:"monthly" doc:"Members of the thirty dates that end with it."`
	Returning int64  `json:"returning" doc:"Members of the date who were also active on one of the thirty dates before it."`
}

type membersView struct {
	Head
	Days []memberDay `json:"days" doc:"Of the whole restaurant, because a member belongs to no branch; none after today."`
}

func (r routes) members(ctx context.Context, _ *Span, s report.Span) (membersView, error) {
	days, err := r.service.Members.MemberDays(ctx, s.From, s.To)
	return membersView{
		Head: headOf(s), Days: seq.Map(days, func(d report.MemberDay) memberDay { return memberDay(d) }),
	}, err
}

func (v membersView) sheet() *sheet {
	s := &sheet{columns: []string{"date", "daily", "weekly", "monthly", "returning"}}
	for _, d := range v.Days {
		s.add(d.Date, d.Daily, d.Weekly, d.Monthly, d.Returning)
	}
	return s
}
