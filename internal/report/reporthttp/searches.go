package reporthttp

import (
	"context"

	"comanda/internal/report"
	"comanda/internal/seq"
)

type searched struct {
	Text     string `json:"text" doc:"In lower case and without accents, as searches compare texts."`
	Searches int64  `json:"searches"`
	Missed   int64  `json:"missed" doc:"Searches that found no dish on a published menu."`
}

// searchSums are the sums of all texts.
type searchSums struct {
	Texts    int   `json:"texts" doc:"Number of different texts."`
	Searches int64 `json:"searches"`
	Missed   int64 `json:"missed"`
}

type searchesView struct {
	Head
	Missed   []searched `json:"missed" doc:"The 50 texts that were searched for most and not found."`
	Searched []searched `json:"searched" doc:"The 50 texts that were searched for most."`
	Totals   searchSums `json:"totals" doc:"Totals of all texts, at most 10,000."`

	all []searched
}

// shownSearches is the number of rows of each list. The CSV file has all texts.
const shownSearches = 50

func (r routes) searches(ctx context.Context, _ *Span, s report.Span) (searchesView, error) {
	texts, err := r.service.Searches(ctx, s, report.MaxSearched)
	v := searchesView{Head: headOf(s), Totals: searchSums{Texts: len(texts)}}
	for _, t := range texts {
		v.Totals.Searches, v.Totals.Missed = v.Totals.Searches+t.Searches, v.Totals.Missed+t.Missed
	}
	rows := func(all []report.Searched) []searched {
		return seq.Map(all, func(t report.Searched) searched { return searched{t.Text, t.Searches, t.Missed} })
	}
	missed := rows(report.MissedSearches(texts))
	v.all = rows(texts)
	v.Missed, v.Searched = missed[:min(len(missed), shownSearches)], v.all[:min(len(v.all), shownSearches)]
	return v, err
}

func (v searchesView) sheet() *sheet {
	s := &sheet{columns: []string{"text", "searches", "without_result"}}
	for _, t := range v.all {
		s.add(t.Text, t.Searches, t.Missed)
	}
	return s
}
